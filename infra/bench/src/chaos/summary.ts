import type { ChaosReport, Strike } from './run.ts';

const SHOWN = 30;

/** The report as a table of faults, for people. */
export function summarize(report: ChaosReport, brokers: number): string {
  const rows = [...Map.groupBy(report.strikes, ({ fault }) => fault)].map(([fault, strikes]) => row(fault, strikes));
  return [
    `\n${report.strikes.length} faults in ${report.seconds} s, ${brokers} broker(s), seed ${report.seed}\n`,
    '| fault | times | lasted ms (worst) | created again ms (median) | (worst) |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows.sort(),
    '',
    `${report.created} creates, ${report.updated} updates and ${report.paid} payments were acknowledged; ` +
      `${report.events} events, ${report.webhooks} webhooks; ${report.unanswered} requests were repeated, ` +
      `${report.past} reads showed the past.`,
    `Lost, doubled, forked or not recovered: ${report.findings.length}`,
    ...report.findings.slice(0, SHOWN),
  ].join('\n');
}

function row(fault: string, strikes: readonly Strike[]): string {
  const recovered = strikes.map(({ recoveredMs }) => recoveredMs ?? Infinity).sort((a, b) => a - b);
  const lasted = Math.max(...strikes.map(({ lastedMs }) => lastedMs));
  const cells = [fault, strikes.length, lasted, recovered[Math.floor(recovered.length / 2)], recovered.at(-1)];
  return `| ${cells.join(' | ')} |`;
}
