import type { ChainAdapter, SignedTransaction } from '@pf/chains';
import type { Database, IntentOwner } from '@pf/database';
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
import type { Commands } from '../commands.ts';
import { refused } from '../refusals.ts';
import { answeredIntent, requireIntent } from './lookup.ts';

export interface ClaimDependencies {
  readonly commands: Commands;
  readonly database: Database;
  readonly log: Logger;
}

/** A verified transaction on its way to the chain. */
export interface Claim {
  readonly id: IntentId;
  readonly owner: IntentOwner;
  readonly adapter: ChainAdapter;
  readonly prepared: PreparedTransaction;
  readonly signed: SignedTransaction;
  /** The wallet has sent it by itself and a node shows it. */
  readonly isOut: boolean;
}

/**
 * Claims the intent for a transaction, broadcasts it and records that: in this order, so that two payers never both
 * broadcast. The claim is released only where the node refused the first broadcast of all; else it stays, the same bytes
 * may be submitted again, and the watcher broadcasts them too.
 *
 * @returns the intent once a node has the transaction, whatever its state by then
 * @throws ApiError 409 and `transaction.mismatch` as the writer decides; `transaction.rejected` where the claim was
 *   released; `rpc.unavailable` and `service.unavailable` where it stays
 */
export async function claimAndBroadcast(parts: ClaimDependencies, claim: Claim): Promise<PublicIntent> {
  const { commands, database, log } = parts;
  const { id, owner, adapter, prepared, signed, isOut } = claim;
  const { hash } = prepared;
  const place = { intentId: id, accountId: owner.accountId, livemode: owner.livemode };
  const prepareResult = await commands.require({
    ...place,
    type: 'prepare_submission',
    data: { transaction: prepared },
  });
  const intent = await answeredIntent(database, prepareResult, owner);

  const broadcast = isOut ? ({ kind: 'taken' } as const) : await adapter.broadcast(signed);
  if (broadcast.kind !== 'taken')
    log.warn({ intentId: id, hash, outcome: broadcast.kind, reason: broadcast.reason }, 'a broadcast was not taken');
  // It has moved on meanwhile: a node had this transaction already.
  if (intent.state !== 'created') return intent;
  switch (broadcast.kind) {
    case 'taken': {
      const recorded = await commands.insist({ ...place, type: 'record_broadcast', data: { hash } });
      if (recorded?.kind === 'refused') throw refused(recorded.refusal);
      // Nobody has answered: the watcher records it. The money is on its way, and that is what the client must know.
      return recorded ? answeredIntent(database, recorded, owner) : view(await requireIntent(database, id, owner));
    }
    case 'refused':
      if (prepareResult.attempts === 1 && (await release(parts, claim, broadcast.reason))) {
        throw new ApiError('transaction.rejected', {
          message: `The chain does not take this transaction: ${broadcast.reason}.`,
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

/** @returns whether the claim is free again: not where another request has prepared the same transaction meanwhile */
async function release(
  { commands, database }: ClaimDependencies,
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
  return submissionOf(await requireIntent(database, id, owner), hash)?.status === 'released';
}
