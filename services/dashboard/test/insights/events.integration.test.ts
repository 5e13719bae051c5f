import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { networkNamed } from '@pf/chains/networks';
import type { TokenAddress } from '@pf/domain';
import { events, samples } from '@pf/domain/testing';
import { type Cluster, startCluster } from '@pf/testing';
import { seedOwner } from '../../src/seed.ts';
import { Person } from '../person.ts';
import { addIntent } from './payments.ts';

const LIVE_USDC = networkNamed('base').tokens.find(({ symbol }) => symbol === 'USDC')?.address as TokenAddress;

describe('GET /accounts/{accountId}/{mode}/events', () => {
  let cluster: Cluster;
  let owner: Person;
  const now = Date.now();
  const minutesAgo = (minutes: number): number => now - minutes * 60_000;

  beforeAll(async () => {
    cluster = await startCluster();
    const dashboard = await cluster.start('dashboard');
    const { accountId, database } = cluster;
    const password = await seedOwner(database, { accountId, name: 'Olivia', email: 'olivia@shop.example' });
    owner = await new Person(dashboard.url).signIn('olivia@shop.example', password);
  });
  afterAll(() => cluster.close());

  const list = async (query: Readonly<Record<string, string>> = {}, mode = 'test') => {
    const asked = { params: { accountId: cluster.accountId, mode }, query };
    return (await owner.ask('listEvents', asked)).body.events.map(({ type, data }) => [type, data.intent.id]);
  };

  it('lists the public events of the account and mode, newest first', async () => {
    const { accountId, database } = cluster;
    const paid = await addIntent(database, {
      accountId,
      events: [
        [minutesAgo(9), events.created()],
        [minutesAgo(3), events.confirmed(samples.FIRST)],
      ],
    });
    const open = await addIntent(database, { accountId, events: [[minutesAgo(5), events.created()]] });
    const live = await addIntent(database, {
      accountId,
      livemode: true,
      events: [[minutesAgo(1), events.created({ tokenAddress: LIVE_USDC })]],
    });
    const { body: other } = await owner.ask('createAccount', { body: { name: 'Another shop' } });
    await addIntent(database, { accountId: other.account.id, events: [[minutesAgo(1), events.created()]] });

    expect(await list()).toEqual([
      ['intent.confirmed', paid],
      ['intent.created', open],
      ['intent.created', paid],
    ]);
    expect(await list({ limit: '1' })).toEqual([['intent.confirmed', paid]]);
    expect(await list({ type: 'intent.created' })).toEqual([
      ['intent.created', open],
      ['intent.created', paid],
    ]);
    expect(await list({}, 'live')).toEqual([['intent.created', live]]);
  });
});
