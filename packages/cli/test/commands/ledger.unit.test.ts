import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FolderStore, ParquetFiles, Signer } from '@pf/archive';
import { parseEvent } from '@pf/contracts';
import { archiveKey } from '../../../archive/test/archive-key.ts';
import { PartitionArchive } from '../../../archive/src/partition-archive.ts';
import { toRow } from '../../../archive/src/row.ts';
import { OTHER_ACCOUNT, OTHERS_PAYMENTS, recordAt, RECORDED_PAYMENTS } from '../../../archive/test/recorded.ts';
import { runPf } from '../../src/index.ts';

const OWN = RECORDED_PAYMENTS.length;
const OTHERS = OTHERS_PAYMENTS.length;
const { accountId: ACCOUNT } = parseEvent(RECORDED_PAYMENTS[0] ?? '');

describe('pf ledger on an archive in a folder', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'pf-ledger-test-'));
    const store = new FolderStore(path.join(folder, 'archive'));
    const parquet = await ParquetFiles.open();
    const signer = new Signer(Buffer.alloc(32, 7));
    await archiveKey(store, signer);
    const archive = await PartitionArchive.open(0, { store, parquet, signer });
    await archive.append([...RECORDED_PAYMENTS, ...OTHERS_PAYMENTS].map((line, n) => toRow(recordAt(0, n, line))));
    await parquet.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  const pf = async (args: readonly string[], archive = 'archive') => {
    let out = '';
    let errors = '';
    const code = await runPf(args, {
      environment: { ARCHIVE_URL: pathToFileURL(path.join(folder, archive)).href },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  };
  const COUNT = 'SELECT count(*)::INTEGER AS n FROM events';
  const count = async (...options: string[]): Promise<unknown> => {
    const { out } = await pf([...options, 'ledger', 'query', COUNT, '--json']);
    return (JSON.parse(out) as [{ n: number }])[0].n;
  };

  it('prints each of the columns of one name with its own value', async () => {
    const { out } = await pf(['ledger', 'query', "SELECT 'first' AS state, 'second' AS state"]);
    expect(out).toBe('state  state:1\nfirst  second\n(1 row)\n');
  });

  it('has all accounts in both modes, and only what --account and --mode name', async () => {
    expect(await count()).toBe(OWN + OTHERS);
    expect(await count('--mode', 'test')).toBe(OWN);
    expect(await count('--mode', 'live')).toBe(OTHERS);
    expect(await count('--account', ACCOUNT)).toBe(OWN);
    expect(await count('--account', OTHER_ACCOUNT, '--mode', 'live')).toBe(OTHERS);
  });

  it('exports, and shows as it was, only what --account and --mode name', async () => {
    const file = path.join(folder, 'live.ndjson');
    await pf(['--mode', 'live', 'ledger', 'export', '--output', file, '--format', 'ndjson']);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const rows = lines.map((line) => JSON.parse(line) as { livemode: boolean; account_id: string });
    expect(rows).toHaveLength(OTHERS);
    expect(new Set(rows.map(({ livemode, account_id }) => `${account_id} ${livemode}`))).toEqual(
      new Set([`${OTHER_ACCOUNT} true`]),
    );
    const { out } = await pf(['ledger', 'as-of', '2030-01-01', '--account', ACCOUNT, '--json']);
    const intents = RECORDED_PAYMENTS.map((line) => parseEvent(line).intentId);
    expect(JSON.parse(out)).toHaveLength(new Set(intents).size);
  });

  it('refuses an account, or a mode of it, of which there are no events', async () => {
    const { code, errors } = await pf(['--account', 'acct_typo', 'ledger', 'query', COUNT]);
    expect(code).toBe(1);
    expect(errors).toMatch(/The archive at file:\S+ has no events of account acct_typo\.\n/);
    const live = await pf(['--account', ACCOUNT, '--mode', 'live', 'ledger', 'as-of', '2030-01-01']);
    expect(live.errors).toContain(`has no events of account ${ACCOUNT} in live mode.`);
  });

  it('verifies all accounts in both modes, and refuses to narrow it', async () => {
    expect((await pf(['ledger', 'verify', '--no-log'])).code).toBe(0);
    for (const options of [
      ['--account', ACCOUNT],
      ['--mode', 'test'],
    ]) {
      const { code, errors } = await pf(['ledger', 'verify', '--no-log', ...options]);
      expect(code).toBe(1);
      expect(errors).toContain('leave out --account and --mode');
    }
  });

  it('says what it cannot notice without the log and noted heads', async () => {
    expect((await pf(['ledger', 'verify', '--no-log'])).out).toContain('are noticed only with --heads');
  });

  it.each([
    ['verify', ['verify', '--no-log']],
    ['query', ['query', COUNT]],
    ['export', ['export', '--output', '/dev/null']],
    ['as-of', ['as-of', '2030-01-01']],
  ])('fails %s where there is no archive', async (_command, args) => {
    const { code, errors } = await pf(['ledger', ...args], 'nowhere');
    expect(code).toBe(1);
    expect(errors).toMatch(/file:\S+nowhere.* has no events.*ARCHIVE_URL/);
  });
});
