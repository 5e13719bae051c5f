import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { ChainId, TransactionHash } from '@pf/domain';
import { deposits, events, samples } from '@pf/domain/testing';
import { type NamedWallet, ProjectionWriter, readCheckpoint, readToldOf } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { DepositLog, newDeposit } from './deposit-log.ts';
import { NOW, PartitionLog } from './partition-log.ts';

const { ACCOUNT, ALICE, BASE_SEPOLIA, BOB, FIRST, OTHER_ACCOUNT, SECOND } = samples;
const hashOf = (digit: string): TransactionHash => `0x${digit.repeat(64)}` as TransactionHash;
const [SHORT, WRONG, UNASKED] = [hashOf('a'), hashOf('b'), hashOf('c')];

describe('What the ledger tells of a few transactions', () => {
  const partition = 2;
  const log = new PartitionLog(partition);
  const paid = newIntentId(partition);
  const deposit = newDeposit(1);
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
    const projection = new ProjectionWriter(own.database.sql);
    await readCheckpoint(own.database, partition);
    await readCheckpoint(own.database, 1);
    const story = [
      events.created(),
      events.mismatchedPayment(SHORT, { amount: 1n }, 'amount'),
      events.mismatchedPayment(WRONG, { amount: 2n }, 'amount'),
      events.mismatchDisproved(WRONG, { amount: 2n }),
      events.confirmed(FIRST),
      events.extraPayment(SECOND),
    ].map((event) => events.of(paid, event));
    await projection.project(log.append(0n, BigInt(story.length), ...story));
    const seen = deposits.depositLanded({ arrival: deposits.arrival({ hash: deposit.hash }) }, deposit.id);
    await projection.project(new DepositLog(1).append(0n, 1n, seen));
  });
  afterAll(() => own.close());

  const wallet: NamedWallet = { chain: BASE_SEPOLIA, livemode: false, wallet: ALICE };
  const told = async (
    hashes: readonly TransactionHash[],
    { accounts = [ACCOUNT], since = NOW - 1, to = wallet } = {},
  ): Promise<readonly string[]> =>
    (await readToldOf(own.database, to, accounts, since, hashes)).told
      .map(({ kind, hash }) => `${kind} ${hash}`)
      .sort();

  it('has what settled, what came beside it, what does not match, and deposits', async () => {
    expect(await told([FIRST, SECOND, SHORT, deposit.hash, UNASKED])).toEqual(
      [`settlement ${FIRST}`, `extra ${SECOND}`, `mismatched ${SHORT}`, `deposit ${deposit.hash}`].sort(),
    );
  });

  it('has nothing of other transactions, and nothing that was withdrawn', async () => {
    expect(await told([WRONG, UNASKED])).toEqual([]);
    expect(await told([SECOND])).toEqual([`extra ${SECOND}`]);
  });

  it('concerns this wallet and network', async () => {
    const all = [FIRST, SECOND, SHORT, deposit.hash];
    expect(await told(all, { to: { ...wallet, wallet: BOB } })).toEqual([]);
    expect(await told(all, { to: { ...wallet, livemode: true } })).toEqual([]);
    expect(await told(all, { to: { ...wallet, chain: 'eip155:8453' as ChainId } })).toEqual([]);
  });

  it('concerns, but for settlements, these accounts and this time', async () => {
    for (const other of [{ accounts: [OTHER_ACCOUNT] }, { since: NOW + 60_000 }])
      expect(await told([SECOND, SHORT, deposit.hash], other)).toEqual([]);
    expect(await told([FIRST], { accounts: [] })).toEqual([`settlement ${FIRST}`]);
  });

  it('names intents that this version cannot read', async () => {
    await own.database.sql.query("UPDATE ledger.intents SET state = '{}' WHERE id = $1", [paid]);
    const found = await readToldOf(own.database, wallet, [ACCOUNT], NOW - 1, [FIRST]);
    expect(found).toEqual({ told: [], unreadable: [paid] });
  });
});
