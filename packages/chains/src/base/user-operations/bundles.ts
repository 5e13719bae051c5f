import type { Address } from '@pf/domain';
import type { Log } from '../../evm/calls.ts';
import { addressAt, bytesAt, type List, listAt, tailAt, uintAt } from './abi.ts';
import { handleOpsOf } from './entry-points.ts';

/**
 * `UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce,
 * bool success, uint256 actualGasCost, uint256 actualGasUsed)`: the last log of each operation.
 */
export const USER_OPERATION_EVENT = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f';

const OPERATIONS_MAX = 256;
const SELECTOR = 4;

/** What an account did in a transaction: the calldata that it executed, and all logs of that time. */
export interface Execution {
  readonly account: Address;
  readonly calldata: Buffer;
  readonly logs: readonly Log[];
}

/**
 * The successful user operations of a bundle, each with the logs from the end of the one before to its own
 * UserOperationEvent. Null where the bundle and its events do not belong together: then nothing is known.
 * @param entryPoint one of the known ones: any contract can emit such events
 */
export function executionsOf(entryPoint: Address, input: Buffer, logs: readonly Log[]): readonly Execution[] | null {
  if (input.toString('hex', 0, SELECTOR) !== handleOpsOf(entryPoint)) return null;
  const list = listAt(input.subarray(SELECTOR), 0, OPERATIONS_MAX);
  const operations = list && readOperations(list);
  const ends = logs.flatMap((log, place) =>
    log.address === entryPoint && log.topics[0] === USER_OPERATION_EVENT ? [{ log, place }] : [],
  );
  if (operations === null || ends.length !== operations.length) return null;
  const executions: Execution[] = [];
  let start = 0;
  for (const [index, { sender, nonce, calldata }] of operations.entries()) {
    const end = ends[index];
    const outcome = end && readOutcome(end.log);
    if (!end || !outcome || outcome.sender !== sender || outcome.nonce !== nonce) return null;
    if (outcome.success) executions.push({ account: sender, calldata, logs: logs.slice(start, end.place) });
    start = end.place + 1;
  }
  return executions;
}

interface UserOperation {
  readonly sender: Address;
  readonly nonce: bigint;
  readonly calldata: Buffer;
}

/** Both forms of user operations begin with sender, nonce, initCode, callData. */
function readOperations({ content, length }: List): readonly UserOperation[] | null {
  const operations: UserOperation[] = [];
  for (let index = 0; index < length; index++) {
    const view = tailAt(content, index);
    const [sender, nonce, calldata] = view
      ? [addressAt(view, 0), uintAt(view, 1), bytesAt(view, 3)]
      : [null, null, null];
    if (sender === null || nonce === null || calldata === null) return null;
    operations.push({ sender, nonce, calldata });
  }
  return operations;
}

function readOutcome({ topics, data }: Log): { sender: Address | null; nonce: bigint | null; success: boolean } {
  const words = Buffer.from(data.slice(2), 'hex');
  return {
    sender: addressAt(Buffer.from((topics[2] ?? '').slice(2), 'hex'), 0),
    nonce: uintAt(words, 0),
    success: uintAt(words, 1) === 1n,
  };
}
