import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeEvent, type EventEnvelope, eventOf, parseEvent } from '@pf/contracts';
import { type EventType, evolve, type IntentId, type Landing, type PaymentIntent, view } from '@pf/domain';
import { FolderStore, Ledger, ParquetFiles, QueryError, Signer } from '../../src/index.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { toRow } from '../../src/row.ts';
import { archiveKey } from '../archive-key.ts';
import { OTHERS_PAYMENTS, recordAt, RECORDED_AT_LEAST, RECORDED_DEPOSITS, RECORDED_PAYMENTS } from '../recorded.ts';

const signer = new Signer(Buffer.alloc(32, 7));
let folder: string;
let ledger: Ledger;
let parquet: ParquetFiles;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pf-ledger-test-'));
  parquet = await ParquetFiles.open();
  ledger = await ledgerOf("the ledger's archive", RECORDED_PAYMENTS);
});
afterAll(async () => {
  ledger.close();
  await parquet.close();
  await rm(folder, { recursive: true });
});

async function ledgerOf(name: string, lines: readonly string[]): Promise<Ledger> {
  const store = new FolderStore(path.join(folder, name));
  await archiveKey(store, signer);
  const archive = await PartitionArchive.open(0, { store, parquet, signer });
  const rows = lines.map((line, n) => toRow(recordAt(0, n, line)));
  await archive.append(rows.slice(0, 40));
  await archive.append(rows.slice(40));
  return Ledger.open(store);
}

/** Every intent as a fold of its events up to a moment shows it. */
function folded(moment: number): ReadonlyMap<string, unknown> {
  const intents = new Map<IntentId, PaymentIntent>();
  for (const line of RECORDED_PAYMENTS) {
    const event = eventOf(parseEvent(line));
    if (event.at <= moment) intents.set(event.intentId, evolve(intents.get(event.intentId), event));
  }
  return new Map([...intents].map(([id, intent]) => [id, JSON.parse(JSON.stringify(view(intent))) as unknown]));
}

describe('the ledger', () => {
  it('has every event once', async () => {
    const { rows } = await ledger.query('SELECT count(*) AS events, count(DISTINCT event_id) AS ids FROM events');
    expect(rows).toEqual([{ events: String(RECORDED_PAYMENTS.length), ids: String(RECORDED_PAYMENTS.length) }]);
  });

  it('has every event once, also where files are merged after they were listed', async () => {
    const store = new FolderStore(path.join(folder, 'merged'));
    await archiveKey(store, signer);
    const archive = await PartitionArchive.open(0, { store, parquet, signer });
    const rows = RECORDED_PAYMENTS.map((line, n) => toRow(recordAt(0, n, line)));
    for (const start of [0, 20, 40]) await archive.append(rows.slice(start, start + 20));
    const open = await Ledger.open(store);
    // On a later day.
    expect(await archive.compact('2999-01-01')).toBe(2);
    const { rows: counts } = await open.query('SELECT count(*) AS events FROM events');
    open.close();
    expect(counts).toEqual([{ events: '60' }]);
  });

  it('has the intents as they are now', async () => {
    const { rows } = await ledger.query('SELECT intent_id, intent FROM intents');
    const found = new Map(rows.map(({ intent_id, intent }) => [intent_id, JSON.parse(String(intent)) as unknown]));
    expect(found).toEqual(folded(Infinity));
  });

  it('has the intents as they were at any moment: as a fold of the events up to then', async () => {
    const moments = RECORDED_PAYMENTS.map((line) => Date.parse(parseEvent(line).at));
    for (const moment of new Set([0, ...moments, Math.min(...moments) - 1])) {
      const found = await ledger.asOf(new Date(moment), null);
      const intents = found.map(({ intent }) => [(intent as { id: string }).id, intent] as const);
      expect(new Map(intents)).toEqual(folded(moment));
    }
  });

  it('has the payments with their outcomes', async () => {
    const { rows } = await ledger.query(
      'SELECT kind, status, count(*) AS payments FROM payments GROUP BY ALL ORDER BY ALL',
    );
    expect(rows.map(({ kind, status, payments }) => [payments, kind, status].join(' '))).toEqual([
      '1 extra confirmed',
      '2 late confirmed',
      '2 mismatched confirmed',
      '1 requested confirmed',
      '3 requested finalized',
      '2 requested lost',
    ]);
  });

  it('books to no wallet of ours what went to another', async () => {
    const { rows } = await ledger.query(
      `SELECT account, sum(amount) AS amount, count(DISTINCT wallet) AS wallets FROM journal
       WHERE token = 'USDC' AND wallet IS NOT NULL AND account <> 'payer' GROUP BY ALL ORDER BY account`,
    );
    expect(rows).toEqual([
      { account: 'other', amount: '8.88', wallets: '1' },
      { account: 'requestor', amount: '67.600001', wallets: '1' },
    ]);
  });

  it('names a token of a payment only where it is the one that was asked for', async () => {
    const other = RECORDED_PAYMENTS.filter((line) => parseEvent(line).type === 'intent.mismatched_payment').map(
      (line) => line.replace(/("transfer":\{"tokenAddress":")0x\w+/, '$10x808456652fdb597867f38412077A9182bf77359F'),
    );
    const inOther = await ledgerOf('another token', other);
    const { rows } = await inOther.query('SELECT DISTINCT token, token_address FROM payments');
    inOther.close();
    expect(rows).toEqual([{ token: null, token_address: '0x808456652fdb597867f38412077A9182bf77359F' }]);
  });

  it('has payments of which no two sums are equal, so that whatever else is counted shows', async () => {
    const all = await ledgerOf('all payments', [...RECORDED_PAYMENTS, ...OTHERS_PAYMENTS]);
    const { rows } = await all.query(
      `SELECT bool_and(refund_of IS NOT NULL AND NOT livemode) AS is_refund, sum(amount * 1000000)::BIGINT AS units
       FROM payments
       GROUP BY CASE WHEN livemode THEN 'live' ELSE concat_ws(' ', kind, refund_of IS NULL, to_requestor,
         status = 'lost', simulated) END`,
    );
    all.close();
    expect(rows).toHaveLength(10);
    // Each counts or does not; a refund may be added, too.
    const sums = rows.reduce<readonly bigint[]>(
      (before, { is_refund, units }) =>
        (is_refund ? [-1n, 0n, 1n] : [0n, 1n]).flatMap((times) =>
          before.map((sum) => sum + times * BigInt(String(units))),
        ),
      [0n],
    );
    expect(new Set(sums).size).toBe(2 ** 8 * 3 ** 2);
  });

  it('has in its journal every transfer that an event names', async () => {
    const named = RECORDED_PAYMENTS.flatMap((line) => {
      const { landing } = (
        JSON.parse(line) as { data: { landing?: { hash: string; transfer: { index: string } } | null } }
      ).data;
      return landing ? [`${landing.hash} ${landing.transfer.index}`] : [];
    });
    const { rows } = await ledger.query(
      `SELECT DISTINCT tx_signature || ' ' || transfer_index AS transfer FROM journal
       WHERE transfer_index IS NOT NULL ORDER BY transfer`,
    );
    expect(rows.map(({ transfer }) => transfer)).toEqual([...new Set(named)].sort());
  });

  it('has a journal whose two sides balance, with each transfer once, and reversals booked back', async () => {
    const { rows } = await ledger.query(
      `SELECT entry, count(DISTINCT tx_signature) AS transactions, sum(base_units) AS rest, count(*) AS sides
       FROM journal GROUP BY entry ORDER BY entry`,
    );
    expect(rows).toEqual([
      { entry: 'fee', transactions: '10', rest: '0', sides: '20' },
      { entry: 'payment', transactions: '8', rest: '0', sides: '16' },
      { entry: 'refund', transactions: '2', rest: '0', sides: '4' },
      { entry: 'reversal', transactions: '2', rest: '0', sides: '8' },
    ]);
    const unbalanced = await ledger.query(
      'SELECT tx_signature FROM journal GROUP BY chain, token_address, tx_signature HAVING sum(base_units) <> 0',
    );
    expect(unbalanced.rows).toEqual([]);
    const undone = await ledger.query(
      `SELECT sum(base_units) AS rest FROM journal WHERE account = 'requestor'
         AND tx_signature IN (SELECT tx_signature FROM payments WHERE status = 'lost')`,
    );
    expect(undone.rows).toEqual([{ rest: '0' }]);
  });

  it('books the fee of each transaction once, to the wallet that paid it, and back where it was undone', async () => {
    const { rows } = await ledger.query(
      `SELECT entry, account, token, count(*) AS entries, sum(base_units) AS units, sum(amount) AS amount FROM journal
       WHERE transfer_index IS NULL AND base_units < 0 AND entry = 'fee' OR account = 'network' AND entry = 'reversal'
       GROUP BY ALL ORDER BY ALL`,
    );
    const fees = (entries: string, units: string) => ({ token: 'ETH', entries, units });
    expect(rows).toMatchObject([
      { entry: 'fee', account: 'payer', ...fees('7', '-14700000000056'), amount: '-0.000014700000000056' },
      { entry: 'fee', account: 'requestor', ...fees('2', '-4200000000009'), amount: '-0.000004200000000009' },
      { entry: 'fee', account: 'sponsor', ...fees('1', '-2100000000012'), amount: '-0.000002100000000012' },
      { entry: 'reversal', account: 'network', ...fees('2', '-4200000000008'), amount: '-0.000004200000000008' },
    ]);
  });

  it('counts a payment once that was reported as mismatched and withdrawn', async () => {
    const reported = RECORDED_PAYMENTS.map((line) => parseEvent(line)).find(
      ({ type }) => type === 'intent.mismatched_payment',
    ) as EventEnvelope;
    const { landing } = reported.data as { readonly landing: Landing };
    const { hash, transfer } = landing;
    const next = (type: EventType, after: number, data: object): string =>
      encodeEvent({ ...reported, type, version: reported.version + after, eventId: `evt_${after}`, data });
    const withdrawn = await ledgerOf('withdrawn', [
      encodeEvent(reported),
      next('intent.mismatch_withdrawn', 1, { landing }),
      next('intent.confirmed', 2, { hash, fulfiller: transfer.from, landing, late: null, simulated: false }),
    ]);
    const payments = await withdrawn.query('SELECT kind, tx_signature FROM payments');
    expect(payments.rows).toEqual([{ kind: 'requested', tx_signature: hash }]);
    const journal = await withdrawn.query("SELECT count(*) AS sides FROM journal WHERE entry = 'payment'");
    expect(journal.rows).toEqual([{ sides: '2' }]);
    withdrawn.close();
  });

  it('has the deposits as they are now', async () => {
    const deposits = await ledgerOf('deposits', RECORDED_DEPOSITS);
    const { rows } = await deposits.query(
      `SELECT version, token, amount, base_units, reason, level, intent_id, undone_at IS NULL AS stands
       FROM deposits ORDER BY tx_signature`,
    );
    const shown = await deposits.query('SELECT deposit FROM deposits ORDER BY tx_signature');
    deposits.close();
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
      '2 USDC 12.5 12500000 no_reference finalized  true',
      '4 USDC 12.5 12500000 unknown_reference withdrawn pi_1original false',
      '1   12500000 native_coin finalized  true',
    ]);
    const last = [1, 5, 6].map((place) => (JSON.parse(RECORDED_DEPOSITS[place] ?? '') as { deposit: object }).deposit);
    expect(shown.rows.map(({ deposit }) => JSON.parse(String(deposit)) as unknown)).toEqual(last);
  });

  it('books what no intent asked for, and back what was lost or pays an intent after all', async () => {
    const sql = `SELECT entry, account, wallet[:5] AS wallet, token, base_units, tx_signature[:4] AS tx FROM journal
      WHERE deposit_id IS NOT NULL ORDER BY tx, entry, account`;
    const booked = await ledgerOf('booked deposits', [...RECORDED_PAYMENTS, ...RECORDED_DEPOSITS]);
    const { rows } = await booked.query(sql);
    const { rows: unbalanced } = await booked.query(
      'SELECT tx_signature FROM journal GROUP BY chain, token_address, tx_signature HAVING sum(base_units) <> 0',
    );
    booked.close();
    expect(unbalanced).toEqual([]);
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
      'deposit payer 0xB0b USDC -12500000 0xaa',
      'deposit requestor 0xA11 USDC 12500000 0xaa',
      'deposit payer  USDC -12500000 0xbb',
      'deposit requestor 0xA11 USDC 12500000 0xbb',
      'reversal payer  USDC 12500000 0xbb',
      'reversal requestor 0xA11 USDC -12500000 0xbb',
      'deposit payer 0xB0b  -12500000 0xcc',
      'deposit requestor 0xA11  12500000 0xcc',
    ]);
    // Lost, and not landed again.
    const lost = await ledgerOf('lost deposit', RECORDED_DEPOSITS.slice(2, 4));
    expect((await lost.query(sql)).rows.map(({ entry }) => entry)).toEqual([
      'deposit',
      'deposit',
      'reversal',
      'reversal',
    ]);
    lost.close();
    const again = await ledgerOf('landed again', RECORDED_DEPOSITS.slice(2, 5));
    expect((await again.query(sql)).rows.map(({ entry }) => entry)).toEqual(['deposit', 'deposit']);
    again.close();
  });

  it('books a transfer once that two accounts have as a deposit, or that an intent has too', async () => {
    const count = "SELECT count(*) AS sides FROM journal WHERE entry IN ('payment', 'deposit')";
    const [received = ''] = RECORDED_DEPOSITS;
    const others = received
      .replaceAll('acc_alice', 'acc_other')
      .replaceAll('dp_B', 'dp_Z')
      .replaceAll('evt_V', 'evt_Z');
    const ofTwo = await ledgerOf('two accounts', [received, others]);
    expect((await ofTwo.query(count)).rows).toEqual([{ sides: '2' }]);
    expect((await ofTwo.query('SELECT count(*) AS deposits FROM deposits')).rows).toEqual([{ deposits: '2' }]);
    ofTwo.close();
    const paid = RECORDED_PAYMENTS.find((line) => parseEvent(line).type === 'intent.extra_payment') ?? '';
    const { landing } = parseEvent(paid).data as { readonly landing: Landing };
    const same = received
      .replaceAll(/0xa{64}/g, landing.hash)
      .replace('"transferIndex":"0"', `"transferIndex":"${landing.transfer.index}"`);
    const ofIntent = await ledgerOf('intent and deposit', [paid, same]);
    expect((await ofIntent.query(count)).rows).toEqual([{ sides: '2' }]);
    ofIntent.close();
  });

  it('has what a payer claims beside its deposit, and not while the transfer pays another intent', async () => {
    const of = (wanted: EventType) =>
      RECORDED_PAYMENTS.map((line) => parseEvent(line)).find(({ type }) => type === wanted) as EventEnvelope;
    const [reported, settled] = [of('intent.mismatched_payment'), of('intent.confirmed')];
    const { landing } = settled.data as { readonly landing: Landing };
    const claim = encodeEvent({ ...reported, data: { ...reported.data, landing, claimed: true } });
    const deposit = (RECORDED_DEPOSITS[0] ?? '')
      .replaceAll('acc_alice', settled.accountId)
      .replaceAll(/0xa{64}/g, landing.hash)
      .replace('"transferIndex":"0"', `"transferIndex":"${landing.transfer.index}"`);
    const unassigned = encodeEvent({
      ...settled,
      type: 'deposit_told',
      version: settled.version + 1,
      eventId: 'evt_unassigned',
      data: { depositId: 'dp_B4UNJ7BPi9mp6pbhGwJa8', version: 3, standing: 'unassigned', landing },
    });
    const sql = 'SELECT kind, status, claimed, deposit_id IS NOT NULL AS deposited FROM payments ORDER BY kind';
    const rowsOf = async (name: string, lines: readonly string[]): Promise<readonly string[]> => {
      const ofClaim = await ledgerOf(name, lines);
      const { rows } = await ofClaim.query(sql);
      ofClaim.close();
      return rows.map((row) => Object.values(row).join(' '));
    };
    expect(await rowsOf('claimed', [claim, deposit])).toEqual(['mismatched confirmed true true']);
    expect(await rowsOf('assigned', [claim, deposit, encodeEvent(settled)])).toEqual([
      'requested confirmed false true',
    ]);
    expect(await rowsOf('not assigned', [claim, deposit, encodeEvent(settled), unassigned])).toEqual([
      'mismatched confirmed true true',
      'requested lost false true',
    ]);
  });

  it('has an extra payment where it has landed again, of which no second event tells', async () => {
    const extra = RECORDED_PAYMENTS.map((line) => parseEvent(line)).find(
      ({ type }) => type === 'intent.extra_payment',
    ) as EventEnvelope;
    const { landing } = extra.data as { readonly landing: Landing };
    const { hash, transfer } = landing;
    const place = { block: transfer.block, blockHash: transfer.blockHash };
    const later = (type: 'confirmation_lost' | 'extra_payment_observed', versions: number, data: object): string =>
      encodeEvent({
        ...extra,
        type,
        version: extra.version + versions,
        eventId: `evt_later${versions}`,
        data,
      });
    const again = { hash, transfer: { ...transfer, index: '77' } };
    const ofExtra = await ledgerOf('extra again', [
      encodeEvent(extra),
      later('confirmation_lost', 1, { hash, place }),
      later('extra_payment_observed', 2, { landing: again }),
    ]);
    const { rows } = await ofExtra.query('SELECT kind, status, transfer_index FROM payments ORDER BY status');
    ofExtra.close();
    expect(rows).toEqual([
      { kind: 'extra', status: 'confirmed', transfer_index: '77' },
      { kind: 'extra', status: 'lost', transfer_index: transfer.index },
    ]);
  });

  it('books what has arrived where more than the amount has paid', async () => {
    const atLeast = await ledgerOf('at least', RECORDED_AT_LEAST);
    const { rows: payments } = await atLeast.query(
      'SELECT kind, status, amount::VARCHAR AS amount, base_units FROM payments ORDER BY base_units, kind',
    );
    const { rows: sums } = await atLeast.query(
      `SELECT sum(amount)::VARCHAR AS amount, sum(base_units) AS base_units, count(*) AS entries
         FROM journal WHERE account = 'requestor'`,
    );
    atLeast.close();
    expect(
      payments.map(({ kind, status, amount, base_units: units }) => [kind, status, Number(amount), units]),
    ).toEqual([
      // It was an extra payment before.
      ['requested', 'finalized', 12.500001, '12500001'],
      ['requested', 'lost', 13, '13000000'],
    ]);
    expect(sums.map(({ amount, base_units: units, entries }) => [Number(amount), units, entries])).toEqual([
      [12.500001, '12500001', '3'],
    ]);
  });

  it('has each payment once, with the amount that it has now, where a reorg has moved its transaction', async () => {
    const of = (wanted: EventType) =>
      RECORDED_AT_LEAST.map((line) => parseEvent(line)).find(({ type }) => type === wanted) as EventEnvelope;
    const [settled, extra] = [of('intent.confirmed'), of('intent.extra_payment')];
    const again = (before: EventEnvelope, type: EventType, version: number, index: string, amount: bigint): string => {
      const { landing } = before.data as { readonly landing: Landing };
      const transfer = { ...landing.transfer, amount, index, block: landing.transfer.block + 1n };
      const data = { landing: { hash: landing.hash, transfer }, amount: String(amount / 1_000_000n) };
      return encodeEvent({ ...before, type, version, eventId: `evt_again${version}`, data });
    };
    const events = [
      ...RECORDED_AT_LEAST.slice(0, 4),
      again(settled, 'confirmation_restored', 5, '3', 14_000_000n),
      again(extra, 'intent.extra_payment', 6, '4', 20_000_000n),
      again(extra, 'extra_payment_observed', 7, '0', 30_000_000n),
    ];
    const moved = await ledgerOf('moved', events);
    const { rows: payments } = await moved.query(
      'SELECT kind, transfer_index, amount, base_units FROM payments ORDER BY base_units',
    );
    const { rows: booked } = await moved.query(
      `SELECT transfer_index, amount, base_units FROM journal
         WHERE account = 'requestor' AND transfer_index IS NOT NULL ORDER BY base_units`,
    );
    moved.close();
    expect(payments.map((row) => Object.values(row).join(' '))).toEqual([
      'requested 3 14 14000000',
      'extra 4 20 20000000',
      'extra 0 30 30000000',
    ]);
    expect(booked.map((row) => Object.values(row).join(' '))).toEqual([
      '3 14 14000000',
      '4 20 20000000',
      '0 30 30000000',
    ]);
  });

  it('writes amounts as people do', async () => {
    const { rows } = await ledger.query("SELECT DISTINCT amount FROM payments WHERE kind <> 'mismatched'");
    expect(rows.map(({ amount }) => amount)).toContain('13');
    expect((await ledger.query('SELECT 12.500::DECIMAL(38, 18) AS a, 100::DECIMAL(38, 18) AS b')).rows).toEqual([
      { a: '12.5', b: '100' },
    ]);
  });

  it('is written to a file of each format', async () => {
    const sql = 'SELECT intent_id, version, "at", type FROM events ORDER BY log_offset';
    for (const format of ['ndjson', 'csv', 'parquet'] as const) {
      const file = path.join(folder, `export.${format}`);
      await ledger.write(sql, file, format);
      expect((await readFile(file)).length).toBeGreaterThan(0);
      const read = { ndjson: 'read_json', csv: 'read_csv', parquet: 'read_parquet' }[format];
      const { rows } = await ledger.query(`SELECT count(*)::INTEGER AS events FROM ${read}('${file}')`);
      expect(rows).toEqual([{ events: RECORDED_PAYMENTS.length }]);
    }
  });

  it('tells columns of one name apart', async () => {
    expect(await ledger.query("SELECT 1 AS a, 2 AS a, 1.50::DECIMAL(4, 2) AS a, 'x' AS b")).toEqual({
      columns: ['a', 'a:1', 'a:2', 'b'],
      rows: [{ a: 1, 'a:1': 2, 'a:2': '1.5', b: 'x' }],
    });
  });

  it('has its times in UTC, wherever it is asked', async () => {
    const { rows } = await ledger.query(
      `SELECT current_setting('TimeZone') AS zone, ("at"::TIMESTAMPTZ)::VARCHAR AS "at" FROM events LIMIT 1`,
    );
    expect(rows).toEqual([{ zone: 'UTC', at: '2026-11-21 12:00:01+00' }]);
  });

  it('says what is wrong with a query', async () => {
    await expect(ledger.query('SELECT nothing FROM events')).rejects.toThrow(QueryError);
    await expect(ledger.query('SELECT nothing FROM events')).rejects.toThrow('nothing');
    await expect(ledger.query('SELECT at FROM events')).rejects.toThrow('the column is "at", in double quotes');
  });
});
