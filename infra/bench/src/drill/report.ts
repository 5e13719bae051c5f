import { table } from '@pf/cli/output';

/** One thing that must hold after a repair. */
export interface Check {
  readonly check: string;
  /** What is wrong, in words; empty: it holds. */
  readonly problems: readonly string[];
}

/** What a disaster has cost. */
interface Loss {
  /** Acknowledged changes of intents that are gone, of all that were acknowledged. */
  readonly changes: number;
  readonly acknowledged: number;
  /** From the first change that is gone to the disaster; 0: none is gone. */
  readonly seconds: number;
  /** Changes of accounts that had to be made again by hand: keys, secrets, URLs. Seconds since the backup. */
  readonly accounts: { readonly changes: number; readonly seconds: number };
  /** Payments on the chain whose intents are gone. */
  readonly paymentsWithoutIntent: number;
  /** Webhooks of events that are in the log, which were not sent. */
  readonly webhooksNotSent: number;
  /** Webhooks that were sent again because the backup has them as outstanding. */
  readonly webhooksRepeated: number;
}

export interface DrillReport {
  readonly case: string;
  readonly loss: Loss;
  /** Of the repair, in order. */
  readonly steps: readonly { readonly step: string; readonly seconds: number }[];
  /** From the disaster to the first acknowledged create, final payment and webhook after the repair. */
  readonly seconds: { readonly created: number; readonly paid: number };
  readonly events: number;
  readonly webhooks: number;
  readonly checks: readonly Check[];
}

/** What is wrong, in words; empty: the drill has succeeded. */
export const problemsOf = ({ checks }: DrillReport): readonly string[] =>
  checks.flatMap(({ check, problems }) => problems.map((problem) => `Not true: ${check}. ${problem}`));

/** For people. */
export function summarize(report: DrillReport): string {
  const { loss } = report;
  const lost = [
    `${loss.changes} of ${loss.acknowledged} acknowledged changes (the last ${loss.seconds} s)`,
    `${loss.accounts.changes} changes of accounts made again by hand (the last ${loss.accounts.seconds} s)`,
    `${loss.paymentsWithoutIntent} payments on the chain without their intent`,
    `${loss.webhooksNotSent} webhooks not sent, ${loss.webhooksRepeated} sent again`,
  ];
  return [
    `${report.case}: ${report.events} events, ${report.webhooks} webhooks`,
    '',
    ...lost.map((line, n) => `${n === 0 ? 'RPO' : '   '}  ${line}`),
    '',
    table([
      ['RTO', 's'],
      ...report.steps.map(({ step, seconds }) => [step, seconds.toFixed(1)]),
      ['creates are acknowledged again, since the disaster', report.seconds.created.toFixed(1)],
      ['a new payment is final and its webhook came', report.seconds.paid.toFixed(1)],
    ]),
    '',
    ...report.checks.map(({ check, problems }) => `${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${check}`),
    ...report.checks.flatMap(({ problems }) => problems.slice(0, 5).map((problem) => `        ${problem}`)),
  ].join('\n');
}
