import { describe, expect, it } from '@jest/globals';
import { HEADER, lineOf } from '../../src/rpc/report.ts';

const cells = (line: string): readonly string[] => line.split('|').map((cell) => cell.trim());

describe('the table of bench:rpc', () => {
  it('has a cell for each column, and counts what was not found', () => {
    const line = lineOf({
      network: 'base-sepolia',
      plan: 'cdp',
      recipients: 100,
      cannot: null,
      measured: {
        restart: { ms: 1_234, calls: 7, byMethod: { eth_getLogs: 7 }, requests: 3, credits: 700 },
        quiet: {
          callsAMinute: 60.4,
          callsAMinuteByMethod: { eth_getLogs: 60.4 },
          requestsAMinute: 30,
          creditsAMonth: 260_000_000,
          dollarsAMonth: 125,
          failures: 0,
          problem: null,
        },
        payment: {
          newMs: [900, 2_100],
          oldMs: [15_000, null],
          meanwhileMs: [3_400],
          watch: { calls: 3, credits: null },
          gateway: { calls: 12, credits: 1_500 },
        },
      },
    });
    expect(cells(line)).toHaveLength(cells(HEADER.split('\n')[0] ?? '').length);
    expect(line).toContain('| 260.0 M | 125 | 1.2 | 7 | 700 | 3.4 | 2.1 | 15.0, 1 not found | 3 | – | 12 | 1500 | 0 |');
  });

  it('says what a plan lacks that does not serve', () => {
    const row = { network: 'base-sepolia', plan: 'drpc-free', recipients: 100, measured: null } as const;
    expect(lineOf({ ...row, cannot: 'find a payment: it refuses eth_getLogs' })).toBe(
      '| base-sepolia | drpc-free | 100 | cannot find a payment: it refuses eth_getLogs |',
    );
  });
});
