import { type IntentId, isAuthorization, type Observation, type Submission } from '@pf/domain';
import type { RpcRefusedError } from '@pf/rpc';
import { type Block, getBlock } from '../../evm/calls.ts';
import { askState, stateIn } from '../authorization/eip3009.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import type { Scan } from './context.ts';

/** At most so many claims are looked at in one step; the others wait for the next. */
const CLAIMS_MAX = 100;

interface Claim {
  readonly intentId: IntentId;
  readonly submission: Submission;
}

/**
 * The live authorizations that provably move nothing any more: at a safe block up to which every transfer was read,
 * their time is over, or the token has their nonce as used or cancelled. What one of them has paid was read before.
 * What could not be read may have used it: beside that, only a nonce that is unused when its time is over proves it.
 * All upstreams that respond must say so; two where two are configured.
 * @param waiting intents of which something was seen that is not reported yet
 * @param unread transactions that could not be judged
 */
export async function findLapsed(
  { node, pool, watch, memory, now }: Pick<Scan, 'node' | 'pool' | 'watch' | 'memory' | 'now'>,
  safe: Block,
  rescanned: bigint,
  waiting: ReadonlySet<IntentId>,
  unread: readonly Pick<Unjudged, 'recipient' | 'payer'>[],
): Promise<readonly Observation[]> {
  if (rescanned < safe.number) return [];
  const claims: Claim[] = [];
  for (const { id, submission } of watch.submitted())
    if (isAuthorization(submission)) claims.push({ intentId: id, submission });
  memory.states.keep(new Set(claims.map(({ submission }) => submission.hash)));
  const open = claims.filter(({ intentId }) => !waiting.has(intentId));
  const stateOf = ({ submission: { sender, terms } }: Claim) =>
    askState(terms.tokenAddress, sender, terms.reference, safe.number);

  const ended = open.filter((claim) => isOver(claim, safe)).slice(0, CLAIMS_MAX);
  const asked = open
    .filter((claim) => !isOver(claim, safe) && memory.states.isDue(claim.submission.hash, now))
    .slice(0, CLAIMS_MAX);
  const states = asked.length === 0 ? [] : await node.batch(asked.map(stateOf));
  for (const [place, claim] of asked.entries()) {
    memory.states.asked(claim.submission.hash, claim.submission.preparedAt, now);
    if (isUsed(states[place])) ended.push(claim);
  }
  if (ended.length === 0) return [];
  const { responses, conclusive } = await pool.onAll((one) =>
    one.batch([getBlock(safe.number), ...ended.map(stateOf)] as const),
  );
  if (!conclusive || responses.some(([block]) => block?.hash !== safe.hash)) return [];
  return ended.flatMap((claim, place): Observation[] => {
    const isOverEverywhere = responses.every(([block]) => block !== null && isOver(claim, block));
    const isUsedEverywhere = responses.every(([, ...used]) => isUsed(used[place]));
    const isUnusedEverywhere = responses.every(([, ...states]) => isUnused(states[place]));
    const mayBeUnread = unread.some((one) => mayBeOf(claim, one));
    if (mayBeUnread && !(isOverEverywhere && isUnusedEverywhere)) return [];
    if (!isOverEverywhere && !isUsedEverywhere) return [];
    const why = isOverEverywhere
      ? `the authorization's validBefore has passed`
      : 'the authorization is used or cancelled';
    const proof = `${why} at the safe block ${safe.number}, up to which every transfer was read`;
    const { intentId, submission } = claim;
    return [{ kind: 'observation', type: 'dropped', intentId, data: { hash: submission.hash, proof } }];
  });
}

/** In a block of this time, or a later one, the token refuses it. */
const isOver = ({ submission: { lifetime } }: Claim, { timestamp }: Block): boolean =>
  lifetime.kind === 'time' && lifetime.validBefore <= timestamp;

/** A transfer from its payer to its recipient: no stranger can make one. */
export const mayBeOf = (
  { submission: { sender, terms } }: Pick<Claim, 'submission'>,
  { recipient, payer }: Pick<Unjudged, 'recipient' | 'payer'>,
): boolean => recipient === terms.requestor && (payer === undefined || payer === sender);

/** Both false where a node does not say: it may have pruned that state. */
const isUsed = (answer: string | RpcRefusedError | undefined): boolean =>
  answer !== undefined && stateIn(answer) === true;
const isUnused = (answer: string | RpcRefusedError | undefined): boolean =>
  answer !== undefined && stateIn(answer) === false;
