import { findNetwork } from '@pf/chains/networks';
import { isDatabaseUnavailable, type NotedPayment, type UnscreenedPayments } from '@pf/database';
import type { ChainId, Observation } from '@pf/domain';
import { count, type Logger } from '@pf/runtime';
import { comparable, type Screening } from '@pf/screening';
import type { WatchedIntents } from './watched-intents.ts';

/** Per round, so that a backlog does not fill the memory. */
const PAYMENTS_A_ROUND = 200;

/**
 * The landings whose senders were not screened: a submit screens the wallet that it is for, and one transaction may
 * have the payments of others beside that wallet's.
 */
export const unscreenedAmong = (
  observations: readonly Observation[],
  chain: ChainId,
  watched: WatchedIntents,
): readonly NotedPayment[] =>
  observations.flatMap((observation): NotedPayment[] => {
    if (observation.type !== 'landed') return [];
    const { intentId, data } = observation;
    const screened = watched.submitterOf(intentId, data.hash);
    if (screened !== undefined && comparable(data.transfer.from) === comparable(screened)) return [];
    const { accountId, livemode } = watched.ownerOf(intentId) ?? { accountId: null, livemode: null };
    return [{ chain, hash: data.hash, sender: data.transfer.from, intentId, accountId, livemode }];
  });

interface Dependencies {
  readonly payments: UnscreenedPayments;
  readonly screening: Screening;
  readonly chains: readonly ChainId[];
  readonly log: Logger;
}

/**
 * Screens the senders of waiting payments. The money has moved, so nothing is refused: a sanctioned sender is flagged,
 * for the operator and the account.
 * @throws the first reason where some could not be screened: they wait for the next run, and keep up no other
 */
export async function screenSenders(
  { payments, screening, chains, log }: Dependencies,
  stopping: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const payment of await payments.waiting(chains, PAYMENTS_A_ROUND)) {
    if (stopping.aborted) return;
    try {
      const verdict = await screening.screen([{ chain: payment.chain, address: payment.sender }], {
        livemode: findNetwork(payment.chain)?.livemode ?? true,
        accountId: payment.accountId,
      });
      if (verdict.kind === 'clean') await payments.clear(payment);
      else if (await payments.flag(payment, verdict.finding)) {
        count('payments.alarms', { alarm: 'sanctioned_payment' });
        log.error(
          { alarm: 'sanctioned_payment', ...payment, finding: verdict.finding },
          'a payment came from a sanctioned wallet',
        );
      }
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
