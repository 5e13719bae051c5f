import { describe, expect, it, jest } from '@jest/globals';
import { type ChainObserver, RpcUnavailableError } from '@pf/chains';
import type { SettledIntent, SettlementPage } from '@pf/database';
import {
  type ChainId,
  evolve,
  type IntentEvent,
  type IntentId,
  type Observation,
  type PaymentIntent,
} from '@pf/domain';
import { about, events, samples, watcher } from '@pf/domain/testing';
import { problemOf, reportAsJson, reportAsText } from '../../src/settlement-audit/report.ts';
import { type AuditReport, auditSettlements } from '../../src/settlement-audit/settlements.ts';

const { BASE_SEPOLIA, BOB, CAROL, FIRST, INTENT, REFERENCE, REFUND, SCENARIO_START, SECOND, referenceOf } = samples;
type Judge = ChainObserver['judge'];

/** An intent that Bob has paid with this transaction. */
function settled(id: IntentId, hash = FIRST): SettledIntent {
  const told = [events.created({ reference: referenceOf(id) }), events.confirmed(hash, { reference: referenceOf(id) })];
  let intent: PaymentIntent | undefined;
  for (const [at, { type, data }] of told.entries())
    intent = evolve(intent, { type, data, intentId: id, version: at + 1, at: SCENARIO_START + at } as IntentEvent);
  return intent as SettledIntent;
}
const pays = (id: IntentId, change: Parameters<typeof watcher.landed>[1] = {}, hash = FIRST): Observation =>
  about(id, watcher.landed(hash, { reference: referenceOf(id), ...change }));
const page = (intents: readonly SettledIntent[], next: IntentId | null = null): SettlementPage => ({
  intents,
  unreadable: [],
  next,
});
const pagesOf =
  (pages: Readonly<Record<string, SettlementPage>>) =>
  async (after: IntentId | null): Promise<SettlementPage> =>
    pages[after ?? ''] ?? page([]);

const audit = (
  read: (after: IntentId | null) => Promise<SettlementPage>,
  judge: Judge,
  ended = new AbortController().signal,
): Promise<AuditReport> =>
  auditSettlements({
    read,
    judges: new Map<ChainId, { judge: Judge }>([[BASE_SEPOLIA, { judge }]]),
    after: null,
    ended,
  });

describe('auditSettlements', () => {
  it('finds nothing where the transactions pay what was believed, whatever their level', async () => {
    const report = await audit(pagesOf({ '': page([settled(INTENT)]) }), async (hash) => [
      pays(INTENT, {}, hash),
      about(INTENT, watcher.landedFinal(hash, { reference: referenceOf(INTENT) })),
    ]);
    expect(report).toEqual({ settlements: 1, findings: [], unreadable: [], stopped: null, next: null });
    expect(problemOf(report)).toBeNull();
  });

  it.each<[string, readonly Observation[], string]>([
    ['less arrived', [pays(INTENT, { amount: 1n })], 'differs in amount (1 of 12500000 base units)'],
    ['no reference is proven', [pays(INTENT, { reference: referenceOf(REFUND) })], 'differs in reference'],
    ['another wallet paid', [pays(INTENT, { from: CAROL })], `it was paid by ${CAROL}, and ${BOB} counts as the payer`],
    ['nothing arrived', [], 'the transaction pays this intent nothing'],
    ['it pays another intent', [pays(REFUND)], 'the transaction pays this intent nothing'],
    ['it was another transaction', [pays(INTENT, {}, SECOND)], 'the transaction pays this intent nothing'],
    ['it reverted', [about(INTENT, watcher.reverted(FIRST))], 'it reverted'],
  ])('finds a settlement for which %s', async (_case, observations, reason) => {
    const report = await audit(pagesOf({ '': page([settled(INTENT)]) }), async () => observations);
    expect(report.findings).toEqual([
      { intent: settled(INTENT), kind: 'unpaid', reason: expect.stringContaining(reason) },
    ]);
    expect(problemOf(report)).toContain('docs/operations/runbooks/audit-settlements.md');
  });

  it('reads a transaction once that has paid several intents, and shows all of them to the judge', async () => {
    const seen: unknown[] = [];
    const intents = [settled(INTENT), settled(REFUND)];
    const report = await audit(pagesOf({ '': page(intents) }), async (hash, watch) => {
      seen.push([hash, watch.byReference(referenceOf(INTENT))?.id, watch.byReference(referenceOf(REFUND))?.id]);
      return [pays(INTENT), pays(REFUND, { amount: 0n })];
    });
    expect(seen).toEqual([[FIRST, INTENT, REFUND]]);
    expect(report.findings.map(({ intent }) => intent.id)).toEqual([REFUND]);
  });

  it('shows the judge nothing that was verified before', async () => {
    await audit(pagesOf({ '': page([settled(INTENT)]) }), async (_hash, watch) => {
      expect([[...watch.submitted()], [...watch.settling()], watch.byReference(REFERENCE)]).toEqual([
        [],
        [],
        undefined,
      ]);
      expect(watch.byReference(referenceOf(INTENT))?.submission).toBeNull();
      return [];
    });
  });

  it('says which could not be judged, and goes on with the others', async () => {
    const intents = [settled(INTENT, FIRST), settled(REFUND, SECOND)];
    const report = await audit(
      pagesOf({ '': page(intents, INTENT), [INTENT]: page([settled('pi_9' as IntentId)]) }),
      async (hash) => {
        if (hash === SECOND) throw new Error('its receipt is malformed');
        return null;
      },
    );
    expect(report.settlements).toBe(3);
    expect(report.findings.map(({ intent, kind, reason }) => [intent.id, kind, reason])).toEqual([
      [INTENT, 'unjudged', expect.stringContaining('no upstream returns the transaction')],
      [REFUND, 'unjudged', 'its receipt is malformed'],
      ['pi_9', 'unjudged', expect.stringContaining('no upstream returns the transaction')],
    ]);
    expect(problemOf(report)).toContain('could not be judged');
  });

  it('waits for an upstream, and stops at the last whole page where none responds for long', async () => {
    jest.useFakeTimers();
    try {
      let calls = 0;
      const running = audit(
        pagesOf({ '': page([settled(INTENT)], INTENT), [INTENT]: page([settled(REFUND, SECOND)]) }),
        async (hash) => {
          calls += 1;
          if (hash === SECOND || calls === 1) throw new RpcUnavailableError('no upstream responds');
          return [pays(INTENT)];
        },
      );
      await jest.advanceTimersByTimeAsync(120_000);
      const report = await running;
      expect(report).toMatchObject({ settlements: 1, findings: [], stopped: 'no upstream responds', next: INTENT });
      expect(calls).toBe(7);
      expect(problemOf(report)).toContain('stopped');
      expect(reportAsText(report, 0)).toContain(`Go on with --after ${INTENT}.`);
    } finally {
      jest.useRealTimers();
    }
  });

  it('stops between pages when it is ended', async () => {
    const ended = new AbortController();
    const report = await audit(
      pagesOf({ '': page([settled(INTENT)], INTENT), [INTENT]: page([settled(REFUND)]) }),
      async () => {
        ended.abort();
        return [pays(INTENT)];
      },
      ended.signal,
    );
    expect(report).toMatchObject({ settlements: 1, stopped: 'it was ended', next: INTENT });
  });
});

describe('The report of an audit', () => {
  it('names what does not hold, what was not judged and what was left out', async () => {
    const report = await audit(pagesOf({ '': page([settled(INTENT), settled(REFUND, SECOND)]) }), async (hash) =>
      hash === FIRST ? [] : null,
    );
    const text = reportAsText({ ...report, unreadable: ['pi_x' as IntentId] }, 7);
    expect(text).toContain('2 settlements: 0 hold, 1 do not hold, 1 could not be judged.');
    expect(text).toContain(`${INTENT}`);
    expect(text).toContain('Intents that this version cannot read: pi_x.');
    expect(text).toContain('7 intents of the period have left the database');
    expect(reportAsJson(report, 7)).toMatchObject({
      settlements: 2,
      cold: 7,
      findings: [
        { kind: 'unpaid', intentId: INTENT, txSignature: FIRST, fulfiller: BOB, chain: BASE_SEPOLIA },
        { kind: 'unjudged', intentId: REFUND, txSignature: SECOND },
      ],
    });
  });
});
