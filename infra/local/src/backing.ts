import type { Part } from './part.ts';
import { anvilPart, type LocalChain } from './parts/anvil.ts';
import { kafkaPart } from './parts/kafka.ts';
import { postgresPart } from './parts/postgres.ts';
import { redisPart } from './parts/redis.ts';
import { startBlockClock } from './block-clock.ts';
import type { Stack, StackChain } from './stack.ts';
import { type Ground, superviseOn } from './ground.ts';
import type { Supervised } from './supervised.ts';
import { placeTokens, TOKENS, wallets } from './tokens.ts';

/** Both Base networks: the testnet at its real pace, the live one slower, since it is used less and costs CPU all day. */
export const CHAINS: readonly LocalChain[] = [
  { name: 'base', label: 'Base Sepolia (anvil, id 84532)', chainId: 84_532, port: 'base', blockMs: 200 },
  { name: 'baseLive', label: 'Base (anvil, id 8453)', chainId: 8453, port: 'baseLive', blockMs: 1000 },
];

export type BackingAddresses = Pick<Stack, 'database' | 'redis' | 'kafka' | 'chains'>;

export interface Backing {
  readonly addresses: BackingAddresses;
  /** The local chains stand still from then on. */
  readonly stopClocks: () => void;
}

/**
 * Starts whatever the environment does not give, all at once.
 * @throws Error that says what could not be had
 */
export async function startBacking(ground: Ground): Promise<Backing> {
  const { settings, terminal } = ground;
  const clocks: (() => void)[] = [];

  async function start(part: Part): Promise<Supervised> {
    const supervised = superviseOn(ground, part);
    const where = part.ports.map((name) => settings.ports[name])[0];
    await terminal.step(`${part.label} on 127.0.0.1:${where}`, () => supervised.start());
    return supervised;
  }

  async function database(): Promise<string> {
    if (settings.given.database) return settings.given.database;
    const { part, url } = await postgresPart(settings);
    await start(part);
    return await url();
  }
  async function redis(): Promise<string> {
    if (settings.given.redis) return settings.given.redis;
    const { part, url } = await redisPart(settings);
    await start(part);
    return url;
  }
  async function kafka(): Promise<string> {
    if (settings.given.kafka) return settings.given.kafka;
    const { part, brokers } = kafkaPart(settings);
    await start(part);
    return brokers;
  }
  async function chain(local: LocalChain): Promise<StackChain> {
    const given = settings.given[local.name];
    const caip2 = `eip155:${local.chainId}`;
    const tokens = Object.fromEntries(TOKENS[local.name].map(({ symbol, address }) => [symbol, address]));
    if (given) return { caip2, rpcUrl: given.split(',')[0] ?? given, tokens, wallets: [] };
    const { part, url } = anvilPart(settings, local);
    const supervised = await start(part);
    await placeTokens(url, TOKENS[local.name]);
    clocks.push(startBlockClock(url, local.blockMs, () => supervised.renew()));
    return { caip2, rpcUrl: url, tokens, wallets: wallets() };
  }

  const [base, baseLive] = CHAINS as readonly [LocalChain, LocalChain];
  const wanted = [database(), redis(), kafka(), chain(base), chain(baseLive)] as const;
  // All of them come to an end before the first error is told: a start that failed leaves nothing half started.
  await Promise.allSettled(wanted);
  const [databaseUrl, redisUrl, brokers, baseChain, baseLiveChain] = await Promise.all(wanted);
  return {
    addresses: { database: databaseUrl, redis: redisUrl, kafka: brokers, chains: { base: baseChain, baseLive: baseLiveChain } },
    stopClocks: () => {
      for (const stopClock of clocks) stopClock();
    },
  };
}
