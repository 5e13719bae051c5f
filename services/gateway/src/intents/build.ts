import { buildIntentRequest, OPERATIONS } from '@pf/contracts';
import type { Database, IntentOwner } from '@pf/database';
import { type Build, type IntentId, liveSubmission, type PublicIntent, view } from '@pf/domain';
import { ApiError } from '../api-error.ts';
import { readBody } from '../body.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { refused } from '../refusals.ts';
import { type Adapters, answeredIntent, findRequestedIntent, pathId, payerOf, termsOf } from './lookup.ts';
import { requireCreated, submissionInProgress } from './states.ts';

/** How often another payer's build may come first before the client is asked to come back. */
const TRIES = 5;

interface Dependencies {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly database: Database;
  readonly partitions: number;
}

interface Built {
  readonly intent: PublicIntent;
  readonly build: Build;
}

/** POST /intents/{id}/build: the same bytes for the same payer while they can land, else new ones. */
export const buildIntent = (parts: Dependencies): Endpoint => ({
  operation: OPERATIONS.buildIntent,
  async handle({ holder, request, response }) {
    const id = pathId(request, parts.partitions);
    const body = await readBody(request, response, buildIntentRequest);
    for (let tries = 1; ; tries++) {
      const built = await tryBuild(parts, id, holder, body.fulfiller, tries);
      if (built) return { status: 200, body: { intent: built.intent, transaction: built.build.transaction } };
    }
  },
});

/** @returns null where another payer's build came first: it is looked at again, and built against */
async function tryBuild(
  parts: Dependencies,
  id: IntentId,
  owner: IntentOwner,
  asked: string | null | undefined,
  tries: number,
): Promise<Built | null> {
  const { intent, adapter, named } = await findRequestedIntent(parts, id, owner, asked);
  requireCreated(intent, 'built for');
  const fulfiller = payerOf(intent, named);
  const present = intent.build?.fulfiller === fulfiller ? intent.build : null;
  const live = liveSubmission(intent);
  // While its transaction is on its way a payer gets nothing but the bytes of before: new ones might pay twice.
  if (live && !(present && live.sender === fulfiller)) throw submissionInProgress(intent);
  if (present && (live || (await adapter.canLand(present)))) return { intent: view(intent), build: present };

  const result = await adapter.build({
    intentId: id,
    terms: termsOf(intent),
    direction: intent.direction,
    fulfiller,
    expiresAt: intent.expiresAt,
  });
  if (result.kind === 'not_payable') {
    const { param, reason } = result;
    throw new ApiError('address.not_payable', {
      message: `The ${param} ${reason}.`,
      param,
      details: { intent_id: id, reason },
    });
  }
  if (result.kind === 'rejected') {
    const { reason } = result;
    throw new ApiError('transaction.rejected', {
      message: `The chain would not take this payment: ${reason}.`,
      details: { intent_id: id, reason },
    });
  }
  const { transaction, lifetime } = result;
  const { accountId, livemode } = owner;
  const recorded = await parts.commands.send({
    type: 'record_build',
    intentId: id,
    accountId,
    livemode,
    data: { fulfiller, transaction, lifetime, replaces: intent.build?.version ?? null },
  });
  if (recorded.kind === 'refused') {
    if (recorded.refusal.code === 'build.superseded' && tries < TRIES) return null;
    throw refused(recorded.refusal);
  }
  if (recorded.build === null) throw new Error(`the writer accepted a build of ${id} and named none`);
  return { intent: await answeredIntent(parts.database, recorded, owner), build: recorded.build };
}
