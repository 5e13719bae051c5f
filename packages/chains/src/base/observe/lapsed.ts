import { type IntentId, isAuthorization, type Observation, type Submission } from '@pf/domain';
import type { RpcRefusedError } from '@pf/rpc';
import { type Block, getBlock, getLogs, type Log, type LogFilter } from '../../evm/calls.ts';
import { topicOf } from '../../evm/observe/log-window.ts';
import { readEach, type Unreadable } from '../../evm/observe/read-each.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import { type Parties, PARTIES_MAX, partiesOf } from '../../set-aside.ts';
import { askState, stateIn } from '../authorization/eip3009.ts';
import { AUTHORIZATION_USED } from '../nested/authorized.ts';
import type { Scan } from './context.ts';
import type { Memory } from './memory.ts';

/** At most so many claims are looked at in one step; the others wait for the next. */
const CLAIMS_MAX = 100;
/** And so many transactions that may have used one. */
const USES_MAX = 20;

interface Claim {
  readonly intentId: IntentId;
  readonly submission: Submission;
}

type Unread = Pick<Unjudged, 'hash' | 'place'> & Parties;

/**
 * The live authorizations that provably move nothing any more: at a safe block up to which every transfer was read,
 * their time is over, or the token has their nonce as used or cancelled. What one of them has paid was read before.
 * What could not be read may have used it, unless its nonce is unused when its time is over, or the token's logs say
 * that no such transaction has.
 * All upstreams that respond must say so; two where two are configured.
 * @param waiting intents of which something was seen that is not reported yet
 * @param unread transactions that could not be judged
 */
export async function findLapsed(
  { node, pool, watch, memory, now }: Pick<Scan, 'node' | 'pool' | 'watch' | 'memory' | 'now'>,
  safe: Block,
  rescanned: bigint,
  waiting: ReadonlySet<IntentId>,
  unread: readonly Unread[],
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
  const proven = ended.flatMap((claim, place) => {
    const isOverEverywhere = responses.every(([block]) => block !== null && isOver(claim, block));
    const isUsedEverywhere = responses.every(([, ...used]) => isUsed(used[place]));
    const isUnusedEverywhere = responses.every(([, ...states]) => isUnused(states[place]));
    if (!isOverEverywhere && !isUsedEverywhere) return [];
    const why = isOverEverywhere
      ? `the authorization's validBefore has passed`
      : 'the authorization is used or cancelled';
    // What came after the safe block has not used it up to there.
    const suspects =
      isOverEverywhere && isUnusedEverywhere
        ? []
        : unread.filter((one) => one.place <= safe.number && mayBeOf(claim, one));
    return [{ claim, why, suspects }];
  });
  await learnUses(
    { pool, memory },
    safe,
    proven.flatMap(({ claim, suspects }) => suspects.map((suspect) => ({ claim, suspect }))),
  );
  return proven.flatMap(({ claim, why, suspects }): Observation[] => {
    if (suspects.some((suspect) => wasUsedBy(memory, claim, suspect) !== false)) return [];
    const proof = `${why} at the safe block ${safe.number}, up to which every transfer was read`;
    const { intentId, submission } = claim;
    return [{ kind: 'observation', type: 'dropped', intentId, data: { hash: submission.hash, proof } }];
  });
}

/**
 * Learns which of these transactions have used an authorization, where it is not known yet, by the one log that the
 * token has of that: strangers cannot make it longer. All upstreams that respond must show that there is none.
 */
async function learnUses(
  { pool, memory }: Pick<Scan, 'pool' | 'memory'>,
  safe: Block,
  all: readonly { readonly claim: Claim; readonly suspect: Unread }[],
): Promise<void> {
  const doubts = all.filter(({ claim, suspect }) => wasUsedBy(memory, claim, suspect) === null).slice(0, USES_MAX);
  if (doubts.length === 0) return;
  const { responses, conclusive } = await pool.onAll((one) =>
    readEach<Block | null | readonly Log[]>(one, [
      getBlock(safe.number),
      ...doubts.map(({ claim, suspect }) => getLogs(useOf(claim, suspect.place))),
    ]),
  );
  for (const [place, { claim, suspect }] of doubts.entries()) {
    const shown = responses.map(([block, ...logs]) =>
      isBlock(block) && block.hash === safe.hash ? logs[place] : null,
    );
    const isShown = shown.some(
      (logs) => Array.isArray(logs) && logs.some(({ transactionHash }: Log) => transactionHash === suspect.hash),
    );
    const isAbsent = conclusive && shown.every((logs) => Array.isArray(logs));
    if (isShown || isAbsent) memory.usedBy.set(useName(claim, suspect), isShown);
  }
}

const isBlock = (one: Block | null | undefined | readonly Log[] | Unreadable): one is Block =>
  one !== null && one !== undefined && 'number' in one;

/** The log of its use in this block. */
const useOf = ({ submission: { sender, terms } }: Claim, block: bigint): LogFilter => ({
  fromBlock: block,
  toBlock: block,
  address: [terms.tokenAddress],
  topics: [[AUTHORIZATION_USED], [topicOf(sender)], [terms.reference]],
});

const useName = ({ submission }: Pick<Claim, 'submission'>, { hash }: Pick<Unread, 'hash'>): string =>
  `${submission.hash} ${hash}`;

/** Null where it is not known. */
export const wasUsedBy = (
  { usedBy }: Pick<Memory, 'usedBy'>,
  claim: Pick<Claim, 'submission'>,
  one: Pick<Unread, 'hash'>,
): boolean | null => usedBy.get(useName(claim, one)) ?? null;

/** In a block of this time, or a later one, the token refuses it. */
const isOver = ({ submission: { lifetime } }: Claim, { timestamp }: Block): boolean =>
  lifetime.kind === 'time' && lifetime.validBefore <= timestamp;

/** True where it has a transfer from the authorization's payer to its recipient. */
export const isBetween = ({ submission: { sender, terms } }: Pick<Claim, 'submission'>, one: Parties): boolean =>
  partiesOf(one).some(
    ({ recipient, payer }) => recipient === terms.requestor && (payer === undefined || payer === sender),
  );

/** Of one with more parties than are kept, not all are known. */
const mayBeOf = (claim: Claim, one: Parties): boolean => partiesOf(one).length >= PARTIES_MAX || isBetween(claim, one);

/** Both false where a node does not say: it may have pruned that state. */
const isUsed = (answer: string | RpcRefusedError | undefined): boolean =>
  answer !== undefined && stateIn(answer) === true;
const isUnused = (answer: string | RpcRefusedError | undefined): boolean =>
  answer !== undefined && stateIn(answer) === false;
