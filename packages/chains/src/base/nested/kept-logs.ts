import type { KeptLogs, LogFilter } from '../../evm/calls.ts';
import type { Network } from '../../port.ts';
import { TRANSFER } from '../observe/landings.ts';
import { AUTHORIZATION_USED } from './authorized.ts';
import { USER_OPERATION_EVENT } from '../user-operations/bundles.ts';
import { entryPoints, isEntryPoint } from '../user-operations/entry-points.ts';

const OF_TOKENS = new Set([TRANSFER, AUTHORIZATION_USED]);

/**
 * The logs that tell what a transaction has paid: transfers and used authorizations of the network's tokens, and the
 * ends of user operations. A stranger's transaction may have thousands of others.
 */
export function keptLogsOf({ tokens }: Pick<Network, 'tokens'>): KeptLogs {
  const ours = new Set(tokens.map(({ address }) => address.toLowerCase()));
  return (address, event) =>
    event !== undefined &&
    ((ours.has(address) && OF_TOKENS.has(event)) || (event === USER_OPERATION_EVENT && isEntryPoint(address)));
}

/** Finds those of one block, and few others. */
export const keptLogsIn = ({ tokens }: Pick<Network, 'tokens'>, block: bigint): LogFilter => ({
  fromBlock: block,
  toBlock: block,
  address: [...tokens.map(({ address }) => address), ...entryPoints],
  topics: [[...OF_TOKENS, USER_OPERATION_EVENT]],
});
