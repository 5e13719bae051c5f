import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { networkNamed } from '@pf/chains';
import type { AccountId, Address, IntentId, TransactionHash } from '@pf/domain';
import type { Difference, WalletReport } from '@pf/wallet-audit';
import { problemOf, reportAsJson, reportAsText, type Subject } from '../src/wallet-report.ts';

const RUNBOOK = path.join(import.meta.dirname, '../../../docs/operations/runbooks/audit-wallets.md');
const network = networkNamed('base');
const usdc = network.tokens.find(({ symbol }) => symbol === 'USDC');
if (usdc === undefined) throw new Error('Base has USDC');
const token = usdc.address;

const subject: Subject = {
  network,
  wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address,
  accounts: [{ accountId: 'acct_1' as AccountId, since: Date.parse('2026-10-02T09:14:11Z') }],
  cold: 0,
};
const missing: Difference = {
  kind: 'missing',
  tokenAddress: token,
  hash: '0x5b1c…' as TransactionHash,
  block: 38_230_117n,
  arrived: 700_000n,
  told: 0n,
  sender: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' as Address,
  toldBy: [],
};
const report: WalletReport = {
  sums: new Map([
    [
      token,
      {
        came: 42_700_000n,
        went: 1_100_000_000n,
        told: { settlement: 40_000_000n, extra: 0n, mismatched: 2_000_000n, deposit: 0n },
        difference: -700_000n,
      },
    ],
  ]),
  differences: [missing],
  range: { from: 38_211_450n, to: 38_254_650n },
  times: { from: Date.parse('2026-11-26T00:00:47Z'), to: Date.parse('2026-11-27T00:00:47Z') },
  balances: new Map([[token, { before: 1_200_000_000n, after: 142_700_000n }]]),
  unreadable: [],
};
const without: Partial<WalletReport> = { differences: [] };

describe('The report of an audit of a wallet', () => {
  it('is shown as in its runbook', async () => {
    expect(await readFile(RUNBOOK, 'utf8')).toContain(`\n${reportAsText(subject, report)}\n`);
  });

  it('has base units in JSON, and at most 100 differences', () => {
    const many = Array.from({ length: 101 }, () => missing);
    const json = JSON.parse(JSON.stringify(reportAsJson(subject, { ...report, differences: many }))) as {
      tokens: readonly object[];
      differences: readonly object[];
      differencesInAll: number;
    };
    expect(json.tokens[network.tokens.indexOf(usdc)]).toEqual({
      token: 'USDC',
      tokenAddress: token,
      decimals: 6,
      balanceBefore: '1200000000',
      balanceAfter: '142700000',
      balancesUnknown: null,
      came: '42700000',
      went: '1100000000',
      ledger: { settlements: '40000000', extra: '0', mismatched: '2000000', deposits: '0' },
      difference: '-700000',
      unexplained: '0',
    });
    expect([json.differences.length, json.differencesInAll]).toEqual([100, 101]);
    expect(json.differences[0]).toMatchObject({ txSignature: '0x5b1c…', block: '38230117', arrived: '700000' });
    expect(reportAsText(subject, { ...report, differences: many })).toContain('\n1 more.');
  });

  it('says which balances are not known, and what no transfer explains', () => {
    const unknown = { ...report, balances: new Map([[token, { unknown: 'it is no archive node' }]]) };
    expect(reportAsText(subject, unknown)).toContain('USDC: the balances are not known: it is no archive node.');
    expect(reportAsText(subject, unknown)).toMatch(/USDC +\? +42.7 +1100 +\? +42 +-0.7/);
    const moved = { ...report, balances: new Map([[token, { before: 1_200_000_000n, after: 142_700_001n }]]) };
    expect(reportAsText(subject, moved)).toContain('has moved by 0.000001 beside all transfers');
    expect(problemOf(subject, { ...moved, ...without })).toContain('without transfers');
  });

  it('fails on a difference, and on what it cannot read', () => {
    expect(problemOf(subject, report)).toContain('The ledger and the chain differ.');
    expect(problemOf(subject, { ...report, ...without })).toBeNull();
    const unreadable = ['pi_1' as IntentId];
    expect(problemOf(subject, { ...report, ...without, unreadable })).toContain('cannot be read');
    expect(reportAsText(subject, { ...report, unreadable })).toContain('cannot read: pi_1.');
  });

  it('says what is not in the database', () => {
    expect(reportAsText({ ...subject, accounts: [] }, report)).toContain('No intent or deposit in the database');
    expect(reportAsText({ ...subject, cold: 3 }, report)).toContain('3 intents of these accounts have left');
  });
});
