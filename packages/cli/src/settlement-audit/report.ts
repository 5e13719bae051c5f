import { table } from '../output.ts';
import type { AuditReport, Finding } from './settlements.ts';

/** @param cold how many intents of the period have left the database */
export const reportAsJson = ({ findings, ...report }: AuditReport, cold: number): object => ({
  ...report,
  cold,
  findings: findings.map(({ intent, kind, reason }) => ({
    kind,
    reason,
    intentId: intent.id,
    accountId: intent.accountId,
    chain: intent.chain,
    txSignature: intent.settlement.hash,
    state: intent.status,
    amount: intent.amount,
    token: intent.token,
    requestor: intent.requestor,
    fulfiller: intent.settlement.transfer.from,
    confirmedAt: intent.confirmedAt === null ? null : new Date(intent.confirmedAt).toISOString(),
  })),
});

/** @param cold as above */
export function reportAsText(report: AuditReport, cold: number): string {
  const { settlements, findings, unreadable, stopped, next } = report;
  const of = (kind: Finding['kind']): number => findings.filter((one) => one.kind === kind).length;
  const lines = [
    `${settlements} settlements: ${settlements - findings.length} hold, ${of('unpaid')} do not hold, ` +
      `${of('unjudged')} could not be judged.`,
  ];
  if (findings.length > 0) lines.unshift(tableOf(findings), '');
  if (unreadable.length > 0) lines.push(`Intents that this version cannot read: ${unreadable.join(', ')}.`);
  if (cold > 0)
    lines.push(`${cold} intents of the period have left the database and are left out (docs/operations/growth.md).`);
  if (stopped !== null)
    lines.push(`It stopped early: ${stopped}. Go on ${next === null ? 'from the beginning' : `with --after ${next}`}.`);
  return lines.join('\n');
}

/** What the command fails with; null where every settlement holds. */
export function problemOf({ findings, unreadable, stopped }: AuditReport): string | null {
  if (findings.some(({ kind }) => kind === 'unpaid'))
    return 'Some settlements do not hold. What to do: docs/operations/runbooks/audit-settlements.md';
  if (stopped !== null) return 'The audit stopped before the last settlement.';
  if (findings.length > 0 || unreadable.length > 0)
    return 'Some settlements could not be judged. Name an upstream that has the blocks of the period, with --rpc.';
  return null;
}

const tableOf = (findings: readonly Finding[]): string =>
  table([
    ['INTENT', 'ACCOUNT', 'AMOUNT', 'CHAIN', 'TRANSACTION', 'RESULT', 'REASON'],
    ...findings.map(({ intent, kind, reason }) => [
      intent.id,
      intent.accountId,
      `${intent.amount} ${intent.token}`,
      intent.chain,
      intent.settlement.hash,
      kind,
      reason,
    ]),
  ]);
