import { CHAIN_NAMES, type ChainName } from '../chains/chains.ts';
import { isFree } from './sockets.ts';
import { PORTS, type PortName, type Settings } from '../stack/settings.ts';

/** The ports that a chain's variable moves: for Solana the WebSocket port, too. */
const portsOf = (chain: ChainName): readonly PortName[] =>
  (Object.keys(PORTS) as PortName[]).filter((port) => PORTS[port].variable === PORTS[chain].variable);

/** The ports that this stack will listen on: none for a backing service that runs elsewhere. */
export function portsNeeded(settings: Settings, withServices: boolean): readonly PortName[] {
  const { external } = settings;
  return [
    ...(withServices
      ? ([
          'gateway',
          'intent',
          'watcher',
          'webhook',
          'dashboard',
          'dashboardHealth',
          'gatewayHealth',
          'checkout',
          'checkoutHealth',
          'archive',
          'sanctions',
          'gatewayMetrics',
          'intentMetrics',
          'watcherMetrics',
          'webhookMetrics',
          'dashboardMetrics',
          'checkoutMetrics',
          'archiveMetrics',
        ] as const)
      : []),
    ...(external.database ? [] : (['postgres'] as const)),
    ...(external.redis ? [] : (['redis'] as const)),
    ...(external.kafka ? [] : (['kafka', 'kafkaController'] as const)),
    ...CHAIN_NAMES.flatMap((name) => (external.chains[name] ? [] : portsOf(name))),
  ];
}

/**
 * @throws Error with every port in use and the variable that moves it
 */
export async function requireFreePorts(settings: Settings, names: readonly PortName[]): Promise<void> {
  const taken: PortName[] = [];
  for (const name of names) if (!(await isFree(settings.ports[name]))) taken.push(name);
  if (taken.length === 0) return;
  const lines = taken.map((name) => `  port ${settings.ports[name]} (${name}): set ${PORTS[name].variable} to another`);
  throw new Error(`These ports are in use:\n${lines.join('\n')}\nor move all ports at once with PF_PORT_SHIFT.`);
}
