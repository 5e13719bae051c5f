import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, FolderStore, Ledger, ParquetFiles, Signer } from '../src/index.ts';
import { PartitionArchive } from '../src/partition-archive.ts';
import { toRow } from '../src/row.ts';
import { DeliveryArchive } from '../src/deliveries/delivery-archive.ts';
import { archiveKey } from './archive-key.ts';
import { EndedInMemory } from './deliveries/ended.ts';
import { deliveriesOfPayments, OTHERS_PAYMENTS, recordAt, RECORDED_DEPOSITS, RECORDED_PAYMENTS } from './recorded.ts';

const guide = await readFile(path.join(import.meta.dirname, '../../../docs/guide/analysts.md'), 'utf8');
const QUESTION = /### ([^\n]+)\n\n```sql\n([^`]+)\n```\n\n```text\n([^`]*)\n```/g;
const questions = [...guide.matchAll(QUESTION)].map(([, question = '', sql = '', result = '']) => ({
  question,
  sql,
  result,
}));

let folder: string;
let ledger: Ledger;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pf-guide-test-'));
  const parquet = await ParquetFiles.open();
  const store = new FolderStore(folder);
  const signer = new Signer(Buffer.alloc(32, 7));
  await archiveKey(store, signer);
  const archive = await PartitionArchive.open(0, { store, parquet, signer });
  const deposits = RECORDED_DEPOSITS.filter((line) => line.includes('"USDC"'));
  const lines = [...RECORDED_PAYMENTS, ...OTHERS_PAYMENTS, ...deposits];
  await archive.append(lines.map((line, n) => toRow(recordAt(0, n, line))));
  const deliveries = new EndedInMemory();
  deliveries.rows.push(...deliveriesOfPayments());
  await new DeliveryArchive({ store, parquet, deliveries, now: () => Date.now() }).round();
  await parquet.close();
  // As with `--mode test`.
  ledger = await Ledger.open(store, undefined, { livemode: false });
});
afterAll(async () => {
  ledger.close();
  await rm(folder, { recursive: true });
});

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

/** As `pf ledger query` shows it. */
function shown({ columns, rows }: Answer): string {
  const cells = [columns, ...rows.map((row) => columns.map((name) => textOf(row[name])))];
  const widths = columns.map((_, place) => Math.max(...cells.map((row) => (row[place] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, place) => cell.padEnd(widths[place] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

describe('the guide for analysts', () => {
  it('asks ten questions, three of an accountant, and one of an integrator', () => {
    expect(questions).toHaveLength(14);
  });

  it.each(questions)('answers: $question', async ({ sql, result }) => {
    expect(shown(await ledger.query(sql))).toBe(result);
  });
});
