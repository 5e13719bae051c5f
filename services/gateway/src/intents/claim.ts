import type { ChainAdapter, SignedTransaction } from '@pf/chains';
import type { IntentQueries } from '@pf/database';
import {
  type IntentId,
  type PreparedTransaction,
  type PublicIntent,
  submissionOf,
  type TransactionHash,
  view,
} from '@pf/domain';
import type { Logger } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import { type Holder, isPayer } from '../api-keys.ts';
import type { Commands } from '../commands.ts';
import { refused } from '../refusals.ts';
import { intentAfter, requireIntent } from './lookup.ts';

export interface ClaimDependencies {
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly log: Logger;
}

/** A verified transaction that is about to be broadcast. */
export interface Claim {
  readonly id: IntentId;
  readonly owner: Holder;
  readonly adapter: ChainAdapter;
  readonly prepared: PreparedTransaction;
  readonly signed: SignedTransaction;
  /** The wallet has broadcast it, and a node shows it. */
  readonly isOut: boolean;
}

/**
 * Claims the intent for a transaction, broadcasts the transaction and records that: in this order, so that two payers
 * never both broadcast. The claim is released only if the node refused the very first broadcast. Otherwise it stays:
 * the same bytes may be submitted again, and the watcher broadcasts them too.
 *
 * @returns the intent once a node has the transaction, whatever its state by then
 * @throws ApiError 409 and `transaction.mismatch` as the writer decides; `transaction.rejected` if the claim was
 *   released; `rpc.unavailable` and `service.unavailable` if it stays
 */
export async function claimAndBroadcast(dependencies: ClaimDependencies, claim: Claim): Promise<PublicIntent> {
  const { commands, intents, log } = dependencies;
  const { id, owner, adapter, prepared, signed, isOut } = claim;
  const { hash } = prepared;
  const target = { intentId: id, accountId: owner.accountId, livemode: owner.livemode };
  const prepareResult = await commands.require({
    ...target,
    type: 'prepare_submission',
    data: { transaction: prepared },
    byPayer: isPayer(owner),
  });
  const intent = await intentAfter(intents, prepareResult, owner);

  const broadcast = isOut ? ({ kind: 'taken' } as const) : await adapter.broadcast(signed);
  if (broadcast.kind !== 'taken')
    log.warn({ intentId: id, hash, outcome: broadcast.kind, reason: broadcast.reason }, 'a broadcast was not accepted');
  // The state has changed, so a node had this transaction already.
  if (intent.state !== 'created') return intent;
  switch (broadcast.kind) {
    case 'taken': {
      const recorded = await commands.insist({ ...target, type: 'record_broadcast', data: { hash } });
      if (recorded?.kind === 'refused') throw refused(recorded.refusal);
      // Without an outcome the watcher records the broadcast. The client has to know that the payment is on its way.
      return recorded ? intentAfter(intents, recorded, owner) : view(await requireIntent(intents, id, owner));
    }
    case 'refused':
      if (prepareResult.attempts === 1 && (await release(dependencies, claim, broadcast.reason))) {
        throw new ApiError('transaction.rejected', {
          message: `The chain rejected this transaction: ${broadcast.reason}.`,
          details: { intent_id: id, reason: broadcast.reason },
        });
      }
      throw stillClaimed(id, hash);
    case 'unknown':
      throw stillClaimed(id, hash);
    default:
      return broadcast satisfies never;
  }
}

const stillClaimed = (id: IntentId, hash: TransactionHash): ApiError =>
  new ApiError('rpc.unavailable', { details: { intent_id: id, tx_signature: hash } });

/** @returns whether the claim was released: not if another request has prepared the same transaction meanwhile */
async function release(
  { commands, intents }: ClaimDependencies,
  { id, owner, prepared: { hash } }: Claim,
  reason: string,
): Promise<boolean> {
  const released = await commands.insist({
    intentId: id,
    accountId: owner.accountId,
    livemode: owner.livemode,
    type: 'release_submission',
    data: { hash, reason },
  });
  if (released === null) throw new ApiError('service.unavailable', { details: { intent_id: id } });
  if (released.kind === 'refused') throw refused(released.refusal);
  return submissionOf(await requireIntent(intents, id, owner), hash)?.status === 'released';
}
