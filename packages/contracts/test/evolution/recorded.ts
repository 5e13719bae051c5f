import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * What the code of a commit wrote, frozen: the same inputs, decided and encoded by that commit's own code. The commits
 * are those before which or with which a format changed. `5387685`: before `otherRefunds` of a state and
 * `refundIntentId` of an extra payment. `16e7908`: with these, before `extraPayments` of a state. `b026edb`: with all.
 * `versions`: with versions of inputs; its events and states have the bytes of b026edb's. `payments`: today's, with
 * public events of payments that the intent did not ask for. `reports` has only the command that came after it,
 * `report_transfer`. `sealed` has only events: of an intent with personal data that was sealed, and then erased.
 * `deposits`: of deposits, which came after all of these. `deposit-acts`: what accounts do about them, later.
 * `assignments`: that they assign them, and what the intent is told. `disproved` has only the observation that came
 * after it. `at-least`: an intent that more than its amount may pay, with versions of their own for its command, its
 * first event and its state.
 */
export const RECORDED = ['5387685', '16e7908', 'b026edb', 'versions', 'payments'] as const;
export type Recording =
  | (typeof RECORDED)[number]
  | 'reports'
  | 'sealed'
  | 'deposits'
  | 'deposit-acts'
  | 'assignments'
  | 'disproved'
  | 'at-least';

/** The lines of a recording, in the order in which they were written. */
export const linesOf = (
  recording: Recording,
  kind: 'events' | 'states' | 'commands' | 'observations' | 'outcomes',
): readonly string[] =>
  readFileSync(path.join(import.meta.dirname, 'fixtures', recording, `${kind}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');
