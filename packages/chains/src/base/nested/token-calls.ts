import type { Address, TransactionHash } from '@pf/domain';
import { boundedTo, type RpcCall, rpcCall, varying } from '@pf/rpc';
import { z } from 'zod';
import { address, bytes, hash, STRANGERS_MAX_BYTES, toQuantity } from '../../evm/calls.ts';

/** A call of a token that has not failed by itself. It may be undone by a failure around it, which is not shown. */
export interface TokenCall {
  readonly hash: TransactionHash;
  readonly from: Address;
  readonly to: Address;
  readonly input: string;
}

const traced = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call'),
    action: z.object({ callType: z.string(), from: address, to: address, input: bytes }),
    error: z.string().nullish(),
    transactionHash: hash.nullish(),
  }),
  z.object({ type: z.enum(['create', 'suicide', 'selfdestruct', 'reward']) }),
]);

/**
 * The calls of these tokens in a block, as Erigon's and Reth's `trace_filter` shows them. Whatever strangers do beside
 * them in a transaction, it is not in here. Fewer providers have it than traces.
 */
export const getTokenCalls = (tokens: readonly string[], block: bigint): RpcCall<readonly TokenCall[]> =>
  varying(
    boundedTo(
      // A busy block has some hundred of them, with half a kilobyte each.
      STRANGERS_MAX_BYTES,
      rpcCall(
        'trace_filter',
        [{ fromBlock: toQuantity(block), toBlock: toQuantity(block), toAddress: tokens }],
        z.array(traced).transform((all) =>
          all.flatMap((one) => {
            if (one.type !== 'call' || one.action.callType !== 'call') return [];
            const hasFailed = one.error !== undefined && one.error !== null;
            const { from, to, input } = one.action;
            return hasFailed || !one.transactionHash ? [] : [{ hash: one.transactionHash, from, to, input }];
          }),
        ),
      ),
    ),
  );
