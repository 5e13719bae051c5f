import { rpcCall, type RpcNode, RpcPool, type RpcTransport, RpcUpstreamError } from '@pf/rpc';
import { createLogger } from '@pf/runtime';
import { z } from 'zod';

/** How the second of two upstreams is unavailable: it fails each request, or it serves another network. */
export const WAYS_TO_BE_AWAY = ['down', 'excluded'] as const;

/** A pool of this node, which is in use, and of a second one that is unavailable. Its clock is `performance.now()`. */
export function poolBesideAway({ name }: Pick<RpcNode, 'name'>, way: (typeof WAYS_TO_BE_AWAY)[number]): RpcPool {
  const away = (): Promise<never> => Promise.reject(new RpcUpstreamError('it is down', 'no', undefined, 'unreachable'));
  const open = (url: string): RpcTransport => ({ name: new URL(url).host, request: away, batch: away });
  return new RpcPool({
    network: 'test',
    upstreams: [`http://${name}`, 'http://second.example'],
    dialect: 'evm',
    // Work is done on the test's own node: the pool's of that name is unavailable, too, so that it is not waited for.
    identify: () => Promise.resolve(way === 'excluded' ? 'it serves another chain' : null),
    probe: rpcCall('probe', [], z.unknown()),
    log: createLogger('test', 'silent'),
    transports: { open, close: () => Promise.resolve() },
  });
}
