import { CHAIN_NAMES, type ChainName, forEachChain } from '../chains/chains.ts';
import { type StackDependencies, superviseOn } from '../processes/dependencies.ts';
import { startChain } from '../chains/local-chains.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { kafkaSpec } from './kafka.ts';
import { postgresSpec } from './postgres.ts';
import { redisSpec } from './redis.ts';
import type { Stack, StackChain } from '../stack/stack.ts';
import type { Supervised } from '../processes/supervised-process.ts';

export interface BackingAddresses extends Pick<Stack, 'database' | 'redis' | 'redisLogins' | 'kafka'> {
  readonly chains: Readonly<Record<ChainName, StackChain>>;
}

export interface Backing {
  readonly addresses: BackingAddresses;
  /** Stops mining: the local chains produce no more blocks. */
  readonly stopClocks: () => void;
}

/**
 * Starts the backing services for which the environment has no address, in parallel.
 * @throws Error that says which of them did not start
 */
export async function startBacking(dependencies: StackDependencies): Promise<Backing> {
  const { settings, terminal } = dependencies;

  async function start(spec: ProcessSpec): Promise<Supervised> {
    const supervised = superviseOn(dependencies, spec);
    const [port] = spec.ports.map((name) => settings.ports[name]);
    await terminal.step(`${spec.label} on 127.0.0.1:${port}`, () => supervised.start());
    return supervised;
  }

  async function database(): Promise<string> {
    if (settings.external.database) return settings.external.database;
    const { spec, url } = await postgresSpec(settings);
    await start(spec);
    return await url();
  }
  async function redis(): Promise<Pick<BackingAddresses, 'redis' | 'redisLogins'>> {
    if (settings.external.redis) return { redis: settings.external.redis, redisLogins: undefined };
    const { spec, url, logins } = await redisSpec(settings);
    await start(spec);
    return { redis: url, redisLogins: logins };
  }
  async function kafka(): Promise<string> {
    if (settings.external.kafka) return settings.external.kafka;
    const { spec, brokers } = kafkaSpec(settings);
    await start(spec);
    return brokers;
  }

  const stores = [database(), redis(), kafka()] as const;
  const chains = forEachChain((name) => startChain(name, settings, start));
  // Every start settles before the first error is thrown, so that a failed start leaves nothing half started.
  const [started] = await Promise.all([Promise.allSettled(Object.values(chains)), Promise.allSettled(stores)]);
  const stopClocks = (): void => started.forEach((chain) => chain.status === 'fulfilled' && chain.value.stopClock());
  try {
    const [databaseUrl, redisAddresses, brokers] = await Promise.all(stores);
    const running = await Promise.all(CHAIN_NAMES.map(async (name) => [name, (await chains[name]).chain] as const));
    return {
      addresses: {
        database: databaseUrl,
        ...redisAddresses,
        kafka: brokers,
        chains: Object.fromEntries(running) as Record<ChainName, StackChain>,
      },
      stopClocks,
    };
  } catch (error) {
    stopClocks();
    throw error;
  }
}
