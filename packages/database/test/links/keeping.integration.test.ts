import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { AccountId, ChainId } from '@pf/domain';
import {
  cancelPaymentLink,
  chooseOffer,
  createPaymentLink,
  expirePaymentLinks,
  findPaymentLink,
  inTransaction,
  openAccount,
  takeIntentsToCancel,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const TTL_SECONDS = 600;

describe('Payment links', () => {
  let own: OwnDatabase;
  let owner: { readonly accountId: AccountId; readonly livemode: boolean };
  const began = new Date('2026-11-21T12:00:00.000Z');
  const later = (seconds: number): Date => new Date(began.getTime() + seconds * 1_000);
  beforeAll(async () => {
    own = await createOwnDatabase();
    const { id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'links' });
    owner = { accountId, livemode: false };
  });
  afterAll(() => own.close());

  const aLink = async (): Promise<string> => {
    const chain = 'eip155:84532' as ChainId;
    const offer = { chain, token: 'USDC', tokenAddress: '0x' as never, requestor: '0x' as never };
    const terms = { amount: '1', offers: [offer], ttlSeconds: TTL_SECONDS, metadata: null };
    const { id } = await inTransaction(own.database, (client) => createPaymentLink(client, owner, terms, began));
    return id;
  };
  const stateOf = async (id: string) => (await findPaymentLink(own.database, owner, id))?.state;

  it('have one intent for an offer that several gateways assign at once', async () => {
    const id = await aLink();
    const choices = await Promise.all(
      Array.from({ length: 8 }, () =>
        chooseOffer(own.database, owner, { id, offer: 0, newIntentId: newIntentId(0), at: began }),
      ),
    );
    const intents = choices.map((choice) => (choice?.kind === 'begun' ? choice.intentId : choice));
    expect(new Set(intents).size).toBe(1);
  });

  it('return what was begun while another request has them locked', async () => {
    const id = await aLink();
    const choose = () => chooseOffer(own.database, owner, { id, offer: 0, newIntentId: newIntentId(0), at: began });
    const first = await choose();
    const blocker = await own.database.sql.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM service.payment_links WHERE id = $1 FOR UPDATE', [id]);
      const again = await Promise.all(Array.from({ length: 20 }, choose));
      const intents = again.map((choice) => (choice?.kind === 'begun' ? choice.intentId : choice));
      expect([...new Set(intents)]).toEqual([first?.kind === 'begun' ? first.intentId : null]);
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
  });

  it('have what cannot be cancelled tried again less and less often', async () => {
    const id = await aLink();
    const choice = await chooseOffer(own.database, owner, { id, offer: 0, newIntentId: newIntentId(0), at: began });
    expect(choice).toMatchObject({ kind: 'begun' });
    await cancelPaymentLink(own.database, owner, id, began);
    const taken: number[] = [];
    for (let seconds = 0; seconds < 600; seconds += 1)
      if ((await takeIntentsToCancel(own.database, later(seconds), 10)).length > 0) taken.push(seconds);
    const waits = taken.map((seconds, index) => seconds - (taken[index - 1] ?? 0));
    expect(waits.slice(0, 6)).toEqual([0, 10, 10, 10, 10, 10]);
    expect(waits.at(-1)).toBe(60);
    expect(taken.length).toBeLessThan(25);
  });

  it('expire but for those that are to be left alone, and are not found twice', async () => {
    const [first, second, third] = [await aLink(), await aLink(), await aLink()];
    const at = later(TTL_SECONDS);
    expect(await expirePaymentLinks(own.database, at, 10, [second])).toEqual({ told: [], failed: new Map() });
    expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual(['expired', 'open', 'expired']);
    await expirePaymentLinks(own.database, at, 10);
    expect(await stateOf(second)).toBe('expired');
  });

  it('are named, with why, where they cannot be ended', async () => {
    const [broken, whole] = [await aLink(), await aLink()];
    await own.database.sql.query(`
      CREATE FUNCTION service.refuse_link() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'this link cannot be ended'; END $$;
      CREATE TRIGGER refuse_link BEFORE UPDATE OF state ON service.payment_links
        FOR EACH ROW WHEN (OLD.id = '${broken}') EXECUTE FUNCTION service.refuse_link()`);
    const { failed } = await expirePaymentLinks(own.database, later(TTL_SECONDS), 10);
    expect([...failed]).toEqual([[broken, expect.objectContaining({ message: 'this link cannot be ended' })]]);
    expect([await stateOf(broken), await stateOf(whole)]).toEqual(['open', 'expired']);
  });
});
