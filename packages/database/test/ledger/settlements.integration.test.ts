import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeIntent } from '@pf/contracts';
import { type AccountId, evolve, type IntentEvent, type IntentId, type PaymentIntent } from '@pf/domain';
import { events, type ExpectedEvent, samples } from '@pf/domain/testing';
import { createTestDatabase, readBackingStack, type TestDatabase } from '@pf/testing';
import { countCold, type Database, openDatabase, readSettlements, type SettlementFilter } from '../../src/index.ts';

const { ACCOUNT, BASE_SEPOLIA, FIRST, SCENARIO_START } = samples;
const PAID = [events.created(), events.confirmed(FIRST)];
/** When the second event of a story comes. */
const PAID_AT = SCENARIO_START + 1_000;
const OTHERS = 4_500;

function folded(id: string, told: readonly ExpectedEvent[]): PaymentIntent {
  let intent: PaymentIntent | undefined;
  for (const [at, { type, data }] of told.entries())
    intent = evolve(intent, {
      type,
      data,
      intentId: id as IntentId,
      version: at + 1,
      at: SCENARIO_START + at * 1_000,
    } as IntentEvent);
  return intent as PaymentIntent;
}

describe('Settlements of a period', () => {
  let own: TestDatabase;
  let database: Database;
  const everything: SettlementFilter = {
    chains: [BASE_SEPOLIA],
    accountId: null,
    from: SCENARIO_START,
    to: SCENARIO_START + 60_000,
  };

  beforeAll(async () => {
    own = await createTestDatabase(readBackingStack().database);
    database = openDatabase({ url: own.url, applicationName: 'test' });
    const insert = (
      intent: PaymentIntent,
      state = encodeIntent(intent),
      accountId: string = ACCOUNT,
    ): Promise<unknown> =>
      database.sql.query(
        `INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token, token_address,
          amount_base_units, requestor, direction, reference, created_at, updated_at, expires_at, closed_at, state)
         VALUES ($1,0,$2,$3,false,$4,$5,'USDC','t',1,'r','request','x',$6,$7,$7,NULL,$8)`,
        [
          intent.id,
          intent.version,
          accountId,
          intent.status,
          intent.chain,
          new Date(intent.createdAt),
          new Date(intent.updatedAt),
          state,
        ],
      );
    await insert(folded('pi_a_paid', PAID));
    await insert(folded('pi_b_open', [events.created()]));
    await insert(folded('pi_c_lost', [...PAID, events.lost(FIRST)]));
    await insert(
      folded('pi_d_simulated', [events.created(), events.simulated.pending(FIRST), events.simulated.confirmed(FIRST)]),
    );
    await insert(folded('pi_e_final', [...PAID, events.finalized(FIRST)]));
    await insert(folded('pi_f_broken', PAID), '{}');
    await insert(folded('pi_g_of_another', PAID), undefined, 'acc_other');
    await insert(folded('pi_z_last', PAID));
    // Between the others and the last, so that it takes more pages than one.
    await database.sql.query(
      `INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token, token_address,
        amount_base_units, requestor, direction, reference, created_at, updated_at, expires_at, closed_at, state)
       SELECT 'pi_m_' || lpad(n::text, 6, '0'), 0, 1, $1, false, 'created', $2, 'USDC', 't', 1, 'r', 'request', 'x', $3,
         $3, $3, NULL, 'x' FROM generate_series(1, $4::int) AS n`,
      [ACCOUNT, BASE_SEPOLIA, new Date(SCENARIO_START), OTHERS],
    );
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });

  /** The ids of all pages, and how many pages there were. */
  async function read(filter: Partial<SettlementFilter> = {}): Promise<readonly [string[], string[], number]> {
    const [found, unreadable]: [string[], string[]] = [[], []];
    let pages = 0;
    for (let after: IntentId | null | undefined = null; after !== undefined; pages += 1) {
      const page = await readSettlements(database, { ...everything, ...filter }, after);
      found.push(...page.intents.map(({ id }) => id));
      unreadable.push(...page.unreadable);
      after = page.next ?? undefined;
    }
    return [found, unreadable, pages];
  }

  it('are read in pages of bounded work, and are those that count as paid on chain', async () => {
    expect(await read()).toEqual([['pi_a_paid', 'pi_e_final', 'pi_g_of_another', 'pi_z_last'], ['pi_f_broken'], 3]);
  });

  it('are of the account, the network and the time that are asked for', async () => {
    expect((await read({ accountId: 'acc_other' as AccountId }))[0]).toEqual(['pi_g_of_another']);
    expect((await read({ chains: [] }))[0]).toEqual([]);
    expect((await read({ from: PAID_AT, to: PAID_AT + 1 }))[0]).toHaveLength(4);
    expect((await read({ to: PAID_AT }))[0]).toEqual([]);
    expect((await read({ from: PAID_AT + 1 }))[0]).toEqual([]);
  });

  it('are not those of intents that have left the database, which are counted', async () => {
    expect(await countCold(database, everything)).toBe(0);
    await database.sql.query(
      `INSERT INTO ledger.cold_intents (id, partition, version, account_id, livemode, created_at, digest, bundle,
        first_byte, bytes, key) VALUES ('pi_old', 0, 3, $1, false, $2, '', 'b', 0, 1, '')`,
      [ACCOUNT, new Date(SCENARIO_START)],
    );
    expect(await countCold(database, everything)).toBe(1);
    expect(await countCold(database, { ...everything, accountId: 'acc_other' as AccountId })).toBe(0);
  });
});
