import type { TransactionHash } from '@pf/domain';
import { boundedTo, type RpcCall, type RpcNode } from '@pf/rpc';
import { getLogs, type Receipt, STRANGERS_MAX_BYTES } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import type { Network } from '../../port.ts';
import { getPlace } from '../calls.ts';
import { GUARD, TRANSFER, TRANSFER_BLOCKED, TRANSFER_WITH_MEMO } from './landings.ts';

/**
 * What a receipt that cannot be read tells of payments, by the logs of our tokens and the guard in its block: a
 * stranger may have added thousands of others. Without what the transaction has cost. Null where the node does not show
 * them, or they are too long, too.
 * @param waited how long its calls are waited for
 */
export async function receiptByLogs(
  node: RpcNode,
  hash: TransactionHash,
  { tokens }: Pick<Network, 'tokens'>,
  waited: <T>(call: RpcCall<T>) => RpcCall<T>,
): Promise<Receipt | null> {
  const [place = null] = await readEach(node, [waited(getPlace(hash))]);
  if (place === null || place instanceof Unreadable || place.blockNumber === null || place.blockHash === null)
    return null;
  const { blockNumber, blockHash, from } = place;
  const filter = {
    fromBlock: blockNumber,
    toBlock: blockNumber,
    address: [...tokens.map(({ address }) => address as string), GUARD],
    topics: [[TRANSFER, TRANSFER_WITH_MEMO, TRANSFER_BLOCKED]],
  };
  const [logs = null] = await readEach(node, [waited(boundedTo(STRANGERS_MAX_BYTES, getLogs(filter)))]);
  if (logs === null || logs instanceof Unreadable) return null;
  const own = logs.filter((log) => log.transactionHash === hash && log.blockHash === blockHash && !log.removed);
  // What has logged something has succeeded.
  return own.length === 0 ? null : { transactionHash: hash, status: 1n, blockNumber, blockHash, from, logs: own };
}
