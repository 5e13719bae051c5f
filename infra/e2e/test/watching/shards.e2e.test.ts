import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isOfShard } from '@pf/database';
import type { Address, PublicIntent, Reference } from '@pf/domain';
import { imageProgram, type Instance, until } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import { z } from 'zod';
import { type Name, NAMES } from '../chain-names.ts';
import { UNITS, WatchingHarness } from './harness.ts';

const NETWORKS = { base: 'base-sepolia', solana: 'solana-devnet', tempo: 'tempo-moderato' } as const;
const SHARDS = ['1/2', '2/2'] as const;
type ShardName = (typeof SHARDS)[number];
/** Each payment needs a payer of its own, so that none waits for another's nonce. */
const PAYERS = { beside: 3, orphaned: 4 };

const report = z.object({
  networks: z.record(z.string(), z.looseObject({ role: z.string(), shard: z.string(), loaded: z.number() })),
});

let harness: WatchingHarness;
beforeAll(async () => {
  harness = await WatchingHarness.start();
  for (const flow of Object.values(harness.flows)) flow.start();
});
afterAll(() => harness.close());

const networksOf = async ({ health }: Instance): Promise<z.infer<typeof report>['networks']> =>
  report.parse(await (await fetch(`${health}/readyz`)).json()).networks;
const active = (what: string, instance: Instance): Promise<true> =>
  until(
    `${what} to watch`,
    async () => Object.values(await networksOf(instance)).every(({ role }) => role === 'active'),
    60_000,
  );
const start = (shard: ShardName): Promise<Instance> =>
  harness.cluster.start('watcher', { env: { WATCH_SHARD: shard, WATCH_LEASE_SECONDS: '3' } });

/** A wallet of the chain that receives, and whose address is of that shard. */
function requestorIn(name: Name, shard: ShardName): string {
  const index = SHARDS.indexOf(shard) + 1;
  const wallet = harness.chain(name).wallets.find(({ address }) => isOfShard(address as Address, { index, count: 2 }));
  if (!wallet) throw new Error(`${name} has no wallet of shard ${shard}`);
  return wallet.address;
}
/** Creates an intent for a recipient of that shard, and pays it without submit. */
async function pay(name: Name, shard: ShardName, payer: number): Promise<PublicIntent> {
  const requestor = requestorIn(name, shard);
  const intent = await harness.create(name, { requestor });
  const places = harness.chain(name).wallets.filter(({ address }) => address !== requestor);
  const wallet = places[payer];
  if (!wallet) throw new Error(`${name} has no wallet ${payer}`);
  await walletOn(harness.chain(name), wallet).pay(harness.usdc(name), requestor, UNITS, intent.reference as Reference);
  return intent;
}
const onAll = <Result>(work: (name: Name) => Promise<Result>): Promise<Result[]> => Promise.all(NAMES.map(work));
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];

describe('A network that is split into two shards', () => {
  it('has each payment found by the watcher of its shard, and by its standby when that is killed', async () => {
    const [first, second, standby] = await Promise.all([start('1/2'), start('2/2'), start('2/2')]);
    for (const name of NAMES)
      // The first step of its watcher may have to wait for its turn.
      await until(`${name} to be split`, () =>
        promisify(execFile)(
          process.execPath,
          [imageProgram(), 'pf', 'watch', 'split', '--network', NETWORKS[name], '--shards', '2', '--json'],
          { env: { PATH: process.env['PATH'], DATABASE_URL: harness.cluster.databaseUrl } },
        ),
      );
    await active('shard 1', first);
    // Of two that are set to it, the same one need not have it on all networks.
    await until('shard 2 to be watched', async () => {
      const [one, other] = [await networksOf(second), await networksOf(standby)];
      return Object.values(NETWORKS).every((name) => [one, other].some((found) => found[name]?.role === 'active'));
    });

    const paid = await onAll((name) =>
      Promise.all(SHARDS.map((shard, at) => pay(name, shard, PAYERS.beside + 2 * at))),
    );
    for (const { id } of paid.flat()) {
      await harness.reach(id, 'finalized');
      expect(await harness.types(id)).toEqual(PAID);
    }
    const loaded = async (instance: Instance): Promise<readonly number[]> =>
      Object.values(await networksOf(instance)).map((network) => network.loaded);
    expect(await loaded(first)).toEqual([1, 1, 1]);
    expect(await loaded(second)).toEqual([1, 1, 1]);

    second.kill('SIGKILL');
    await second.exited;
    const orphaned = await onAll((name) => pay(name, '2/2', PAYERS.orphaned));
    await active('the standby of shard 2', standby);
    for (const { id } of orphaned) {
      await harness.reach(id, 'finalized');
      expect(await harness.types(id)).toEqual(PAID);
    }
    await active('shard 1', first);
  });
});
