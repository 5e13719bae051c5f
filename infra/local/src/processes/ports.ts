import { CHAIN_NAMES, type ChainName } from '../chains/chains.ts';
import { isFree } from './sockets.ts';
import { PORTS, type PortName, type Settings } from '../stack/settings.ts';

const CHAIN_PORTS: Readonly<Record<ChainName, readonly PortName[]>> = {
  base: ['base'],
  baseLive: ['baseLive'],
  solana: ['solana', 'solanaWebSocket'],
  tempo: ['tempo'],
};

/** Which ports this stack will listen on: a backing part that the environment gives needs none. */
export function portsNeeded(settings: Settings, withServices: boolean): readonly PortName[] {
  const { given } = settings;
  return [
    ...(withServices
      ? ([
          'gateway',
          'intent',
          'watcher',
          'webhook',
          'sanctions',
          'gatewayMetrics',
          'intentMetrics',
          'watcherMetrics',
          'webhookMetrics',
        ] as const)
      : []),
    ...(given.database ? [] : (['postgres'] as const)),
    ...(given.redis ? [] : (['redis'] as const)),
    ...(given.kafka ? [] : (['kafka', 'kafkaController'] as const)),
    ...CHAIN_NAMES.flatMap((name) => (given.chains[name] ? [] : CHAIN_PORTS[name])),
  ];
}

/**
 * @throws Error naming every port that is taken, with the variable that moves it
 */
export async function requireFreePorts(settings: Settings, names: readonly PortName[]): Promise<void> {
  const taken: PortName[] = [];
  for (const name of names) if (!(await isFree(settings.ports[name]))) taken.push(name);
  if (taken.length === 0) return;
  const lines = taken.map((name) => `  port ${settings.ports[name]} (${name}): set ${PORTS[name].variable} to another`);
  throw new Error(`These ports are in use:\n${lines.join('\n')}\nor move all ports at once with PF_PORT_SHIFT.`);
}
