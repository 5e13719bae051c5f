import type { IntentStatus } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import { ROWS } from './lifecycle-rows.ts';
import type { Case, Row } from './lifecycle-table.ts';

const HEAD = `<!-- Written by \`pnpm --filter @pf/domain document\` from the table that the tests run. Change the table (packages/domain/test), not this file. -->
# The lifecycle, total

What becomes of every input in every state. Each line below is a test of \`packages/domain\`, run by its name.

The public states are \`created\`, \`pending\`, \`confirmed\`, \`finalized\`, \`failed\`, \`expired\` and \`cancelled\`. Beside them an intent keeps, privately:
- the **build**: the unsigned bytes, for whom, and how long they can land. Its name is the intent's version at which it was recorded;
- its **submissions**: hash, sender, nonce, lifetime, verified terms, how often prepared. At most one is *live*: it can still land;
- the **settling transaction** with the chain's own record of the transfer, whether it is final, whether a reorganisation has undone it (*lost*);
- every transfer ever counted, so that each counts once;
- whether it was **simulated**.

## Inputs
| From | Inputs |
|---|---|
| the gateway, as commands | \`create\`, \`update\`, \`detect\`, \`record_build\`, \`prepare_submission\`, \`record_broadcast\`, \`release_submission\`, \`cancel\`, \`refund\`, \`simulate\` |
| watchers, as observations | \`landed\` (with the transfer as the chain recorded it, at the level confirmed or finalized), \`reverted\`, \`dropped\` (it can provably never land), \`lost\` (orphaned by a reorganisation) |
| the partition's owner | \`expire\` |

The writer stamps the time before it decides; no other clock enters. A command on an intent that is \`created\` or \`pending\` past its \`expiresAt\` is decided after an \`expire\`: its decision holds \`intent.expired\` first. An observation is not: who paid in time has paid. A command on an intent that does not exist, or is another account's or of the other mode, is refused with \`intent.not_found\`; an observation of an unknown intent goes to the dead letters.

## At a glance
\`=\`: nothing changes, the present state is the answer. Below, each cell with its conditions.
`;

const RULES = `
## The rules behind it
- **Money first.** A landing is judged by what the chain recorded (reference, token, recipient, amount), whatever its hash: a fee-bumped replacement, a wallet that sent by itself and a late one all count, and \`txSignature\` and \`fulfiller\` say what really happened. A landing with the right terms always ends in \`confirmed\`, or is recorded as an extra payment.
- **Once.** One transfer (transaction and index) counts once for one intent. Repeats by rescans change nothing. A transfer that a reorganisation has undone is counted anew if it comes again.
- Drops and reverts are judged by hash.
- **Two payers never both broadcast.** A transaction is prepared before it is broadcast, and only one can be live. Another of the same sender and nonce takes its place where it lives as long, for at most one of the two can land; its attempts count on. The node's refusal releases it only while it was prepared once and less than 7 seconds ago, and the watcher broadcasts one that nobody has heard of only after 12: so none that is released was broadcast by somebody else. Released, it begins anew.
- A drop kills the build it came from: the next one is made anew.
- **\`updatedAt\`** is the writer's time, or a millisecond more than it was, whichever is later. It moves exactly when a field changes that integrators see.
- **\`confirmed\` is not taken back in public.** After a reorganisation any payment with the right terms restores it: the same transaction, or the one that took its nonce. Proven dead: \`failed\`; and if it lands even then, \`confirmed\`.
- **Late payments** take an intent from \`expired\`, \`cancelled\` or \`failed\` to \`confirmed\`, and the event says from where.
- **Simulations** pass every state and event on the way, with a synthetic hash and, where nobody is known to pay, a synthetic fulfiller. From then on the intent is simulated: watchers skip it, a real submission is \`intent.invalid_state\`, a real landing an extra payment.
- **Refunds.** A refund has the partition of its original, so both change in one transaction. \`refundedBy\` is released when the refund has ended in \`expired\`, \`cancelled\` or \`failed\` with no live submission. If a released refund lands late it is confirmed, always, and \`refundedBy\` points back to it: a successor for which nothing is submitted is cancelled. A successor that is under way keeps \`refundedBy\`, and the original records an extra payment; should that successor end unpaid, \`refundedBy\` points to the one that was paid.
- **Watching** by reference goes on for 30 days (configurable) after the intent was finalized, failed, expired or was cancelled; without end while it is open, its settling transaction is not final, or a final one was lost.
`;

/** What of an event's data tells one case from another. */
const detail = ({ type, data }: ExpectedEvent): string => {
  if (type === 'submission_prepared' && data.attempts > 1) return ` (attempts ${data.attempts})`;
  if (type === 'submission_released') return ` (${data.outcome})`;
  if (type === 'intent.confirmed' && data.late !== null) return ` (late, from ${data.late})`;
  if (type === 'intent.expired' && data.pendingAtExpiry) return ' (pendingAtExpiry)';
  return '';
};

const happens = (told: ExpectedEvent): string =>
  `\`${told.type}\`${told.of === undefined ? '' : ' of the new intent'}${detail(told)}`;

const outcome = (one: Case): string => {
  if (one.refused !== undefined) return `refused: \`${one.refused}\``;
  const events = one.then ?? [];
  return events.length === 0 ? '=' : events.map(happens).join(', ');
};

const glance = (row: Row): string => {
  const cells = INTENT_STATUSES.map((state) =>
    [...new Set(row.cells[state].map(outcome))].map((text) => text.replace('refused: ', '')).join('; '),
  );
  return `| **${row.name}** | ${cells.join(' | ')} |`;
};

/** The lines of one cell: conditions with the same outcome share one, and what has no condition comes last. */
const lines = (cell: readonly Case[]): string => {
  const conditions = new Map<string, string[]>();
  for (const one of cell.toSorted((a, b) => Number(a.if === undefined) - Number(b.if === undefined))) {
    conditions.set(outcome(one), [
      ...(conditions.get(outcome(one)) ?? []),
      one.if ?? (cell.length === 1 ? '' : 'otherwise'),
    ]);
  }
  return [...conditions].map(([then, ifs]) => `${ifs.join('; ')} | ${then} |`).join('\n');
};

/** The lines of one row: states in which exactly the same happens share them. */
const details = (row: Row): string => {
  const groups = new Map<string, IntentStatus[]>();
  for (const state of INTENT_STATUSES) {
    const text = lines(row.cells[state]);
    groups.set(text, [...(groups.get(text) ?? []), state]);
  }
  const table = [...groups].flatMap(([text, states]) =>
    text.split('\n').map((line, n) => `| ${n === 0 ? states.join(', ') : ''} | ${line}`),
  );
  return `### ${row.name}\n| State | If | Then |\n|---|---|---|\n${table.join('\n')}\n`;
};

/** docs/reference/lifecycle.md: the tests' table for readers. */
export const lifecycleDocument = (): string =>
  [
    HEAD,
    `| Input | ${INTENT_STATUSES.join(' | ')} |\n|---|${INTENT_STATUSES.map(() => '---').join('|')}|\n${ROWS.map(glance).join('\n')}\n`,
    '\n## Cell by cell\n',
    ROWS.map(details).join('\n'),
    RULES,
  ].join('');
