import { type IntentId, isAuthorization, type Observation, type Submission } from '@pf/domain';
import type { Block } from '../../evm/calls.ts';
import { askState, stateIn } from '../authorization/eip3009.ts';
import type { Scan } from './context.ts';

/** At most so many states are read in one step; the others wait for the next. */
const STATES_MAX = 100;

interface Claim {
  readonly intentId: IntentId;
  readonly submission: Submission;
}

/**
 * The live authorizations that provably move nothing any more: at a safe block up to which every transfer was read,
 * their time is over, or the token has their nonce as used or cancelled. What one of them has paid was read before.
 * @param waiting intents of which something was seen that is not reported yet
 */
export async function findLapsed(
  { node, watch, memory, now }: Scan,
  safe: Block,
  rescanned: bigint,
  waiting: ReadonlySet<IntentId>,
): Promise<readonly Observation[]> {
  if (rescanned < safe.number) return [];
  const claims: Claim[] = [];
  for (const { id, submission } of watch.submitted())
    if (isAuthorization(submission)) claims.push({ intentId: id, submission });
  memory.states.keep(new Set(claims.map(({ submission }) => submission.hash)));
  const open = claims.filter(({ intentId }) => !waiting.has(intentId));
  const isOver = ({ submission: { lifetime } }: Claim): boolean =>
    lifetime.kind === 'time' && lifetime.validBefore <= safe.timestamp;
  const proof = `at the safe block ${safe.number}, up to which every transfer was read`;
  const over = open
    .filter(isOver)
    .map((claim) => dropped(claim, `the authorization's validBefore has passed ${proof}`));

  const asked = open
    .filter((claim) => !isOver(claim) && memory.states.isDue(claim.submission.hash, now))
    .slice(0, STATES_MAX);
  if (asked.length === 0) return over;
  const states = await node.batch(
    asked.map(({ submission: { sender, terms } }) =>
      askState(terms.tokenAddress, sender, terms.reference, safe.number),
    ),
  );
  const used: Observation[] = [];
  for (const [place, claim] of asked.entries()) {
    const { hash, preparedAt } = claim.submission;
    memory.states.asked(hash, preparedAt, now);
    // A node that has pruned that state cannot prove it.
    if (states[place] !== undefined && stateIn(states[place]) === true)
      used.push(dropped(claim, `the authorization is used or cancelled ${proof}`));
  }
  return [...over, ...used];
}

const dropped = ({ intentId, submission: { hash } }: Claim, proof: string): Observation => ({
  kind: 'observation',
  type: 'dropped',
  intentId,
  data: { hash, proof },
});
