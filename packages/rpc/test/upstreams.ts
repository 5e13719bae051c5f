import { createLogger } from '@pf/runtime';
import { z } from 'zod';
import { type RpcCall, rpcCall, reportingHead, RpcPool, type UpstreamSettings } from '../src/index.ts';

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]+$/)
  .transform(BigInt);

/** What an EVM upstream of Base Sepolia is asked in these tests. */
export const getChainId = (): RpcCall<bigint> => rpcCall('eth_chainId', [], quantity);
export const getHeadNumber = (): RpcCall<bigint> =>
  reportingHead(rpcCall('eth_blockNumber', [], quantity), (head) => head);
export const getTransactionCount = (account: string): RpcCall<bigint> =>
  rpcCall('eth_getTransactionCount', [account, 'latest'], quantity);

/** A pool over these upstreams that gives up fast. */
export const poolOver = (
  upstreams: readonly (string | UpstreamSettings)[],
  timeoutMs: number,
  deadlineMs?: number,
): RpcPool =>
  new RpcPool({
    network: 'base-sepolia',
    upstreams,
    dialect: 'evm',
    identify: async (node) => {
      const chain = await node.call(getChainId());
      return chain === 84_532n ? null : `it serves eip155:${chain}, not eip155:84532`;
    },
    probe: getHeadNumber(),
    log: createLogger('test', 'silent'),
    timeoutMs,
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
