import { type ChainName, forEachChain } from '../chains/chains.ts';
import { type StackDependencies, superviseOn } from '../processes/dependencies.ts';
import { startChain } from '../chains/local-chains.ts';
import type { Part } from '../processes/process-spec.ts';
import { kafkaPart } from './kafka.ts';
import { postgresPart } from './postgres.ts';
import { redisPart } from './redis.ts';
import type { Stack, StackChain } from '../stack/stack.ts';
import type { Supervised } from '../processes/supervised-process.ts';

export interface BackingAddresses extends Pick<Stack, 'database' | 'redis' | 'kafka'> {
  readonly chains: Readonly<Record<ChainName, StackChain>>;
}

export interface Backing {
  readonly addresses: BackingAddresses;
  /** The local chains stand still from then on. */
  readonly stopClocks: () => void;
}

/**
 * Starts whatever the environment does not give, all at once.
 * @throws Error that says what could not be had
 */
export async function startBacking(dependencies: StackDependencies): Promise<Backing> {
  const { settings, terminal } = dependencies;

  async function start(part: Part): Promise<Supervised> {
    const supervised = superviseOn(dependencies, part);
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

  const wanted = [database(), redis(), kafka()] as const;
  const chains = forEachChain((name) => startChain(name, settings, start));
  // All of them come to an end before the first error is told: a start that failed leaves nothing half started.
  const [started] = await Promise.all([Promise.allSettled(Object.values(chains)), Promise.allSettled(wanted)]);
  const stopClocks = (): void => started.forEach((chain) => chain.status === 'fulfilled' && chain.value.stopClock());
  try {
    const [databaseUrl, redisUrl, brokers] = await Promise.all(wanted);
    const [base, baseLive, solana, tempo] = await Promise.all([
      chains.base,
      chains.baseLive,
      chains.solana,
      chains.tempo,
    ]);
    return {
      addresses: {
        database: databaseUrl,
        redis: redisUrl,
        kafka: brokers,
        chains: { base: base.chain, baseLive: baseLive.chain, solana: solana.chain, tempo: tempo.chain },
      },
      stopClocks,
    };
  } catch (error) {
    stopClocks();
    throw error;
  }
}
