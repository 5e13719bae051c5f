import type { Address } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { addressAt, bytesAt, type List, listAt, tailAt } from './abi.ts';

/** A call that an account makes. */
export interface AccountCall {
  readonly to: Address;
  readonly data: Buffer;
}

/** Of one operation. Real ones stay far below. */
export const CALLS_MAX = 256;
/** Accounts that call themselves to make calls. */
const DEPTH_MAX = 4;
const SELECTOR = 4;
/** ERC-7821: the account itself. */
const ZERO = '0x0000000000000000000000000000000000000000';

/** What ERC-7579 calls a mode, which ERC-7821 shares: the type of the calls is its first byte. */
const MODE = { single: 0, batch: 1 } as const;
/** ERC-7821: a batch of batches. */
const BATCHES = '78210002';

/**
 * The calls that an account makes when it executes this calldata, in order: `execute` and `executeBatch` as the
 * accounts of ERC-4337 have them, and ERC-7821's and ERC-7579's `execute(bytes32,bytes)`. Calls by which the account
 * makes further calls of its own are opened too. Null where it is none of these, malformed, or more than the limits:
 * then it is not known what the account does.
 * @param most how many calls, and batches of them, are read
 */
export function callsOf(account: Address, calldata: Buffer, most = CALLS_MAX): readonly AccountCall[] | null {
  const budget = { left: most };
  const calls = open(account, calldata, 1, budget);
  return budget.left < 0 ? null : calls;
}

/**
 * How many calls, and batches of them, may still be read. What is malformed in the end counts, too: offsets can name
 * the same bytes again and again.
 */
interface Budget {
  left: number;
}

function open(account: Address, calldata: Buffer, depth: number, budget: Budget): readonly AccountCall[] | null {
  const calls = readCalls(account, calldata, budget);
  if (calls === null) return null;
  return calls.flatMap((call) => {
    const mayOpen = call.to === account && depth < DEPTH_MAX && budget.left > 0;
    return (mayOpen ? open(account, call.data, depth + 1, budget) : null) ?? [call];
  });
}

function readCalls(account: Address, calldata: Buffer, budget: Budget): readonly AccountCall[] | null {
  const args = calldata.subarray(SELECTOR);
  switch (calldata.toString('hex', 0, SELECTOR)) {
    // execute(address,uint256,bytes)
    case 'b61d27f6':
      return readAll([readCall(args)], budget);
    // executeBatch((address,uint256,bytes)[])
    case '34fcd5be':
      return readBatch(args, budget);
    // executeBatch(address[],bytes[])
    case '18dfb3c7':
      return readColumns(args, 1, budget);
    // executeBatch(address[],uint256[],bytes[])
    case '47e1da2a':
      return readColumns(args, 2, budget);
    // execute(bytes32,bytes)
    case 'e9ae5c53':
      return readMode(args, budget)?.map(({ to, data }) => ({ to: to === ZERO ? account : to, data })) ?? null;
    default:
      return null;
  }
}

/** (address, uint256, bytes) */
function readCall(view: Buffer): AccountCall | null {
  const to = addressAt(view, 0);
  const data = bytesAt(view, 2);
  return to === null || data === null ? null : { to, data };
}

/** Null as soon as one is, or the budget is used up. */
function readAll<T>(all: Iterable<T | null>, budget: Budget): readonly T[] | null {
  const found: T[] = [];
  for (const one of all) {
    budget.left -= 1;
    if (one === null || budget.left < 0) return null;
    found.push(one);
  }
  return found;
}

/** (address, uint256, bytes)[] in slot 0 */
function readBatch(args: Buffer, budget: Budget): readonly AccountCall[] | null {
  const list = listAt(args, 0, CALLS_MAX);
  return list && readAll(tuples(list), budget);
}

function* tuples({ content, length }: List): Generator<AccountCall | null> {
  for (let index = 0; index < length; index++) {
    const view = tailAt(content, index);
    yield view && readCall(view);
  }
}

/** address[] in slot 0, and bytes[] in another one */
function readColumns(args: Buffer, slot: number, budget: Budget): readonly AccountCall[] | null {
  const [targets, datas] = [listAt(args, 0, CALLS_MAX), listAt(args, slot, CALLS_MAX)];
  return targets && datas && targets.length === datas.length ? readAll(rows(targets, datas), budget) : null;
}

function* rows(targets: List, datas: List): Generator<AccountCall | null> {
  for (let index = 0; index < targets.length; index++) {
    const [to, data] = [addressAt(targets.content, index), bytesAt(datas.content, index)];
    yield to === null || data === null ? null : { to, data };
  }
}

/** bytes32 mode, bytes executionData */
function readMode(args: Buffer, budget: Budget): readonly AccountCall[] | null {
  const execution = bytesAt(args, 1);
  if (execution === null) return null;
  if (args[0] === MODE.single) {
    // address ‖ uint256 ‖ calldata, packed
    if (execution.length < 52) return null;
    const to = getAddress(`0x${execution.toString('hex', 0, 20)}`) as Address;
    return readAll([{ to, data: execution.subarray(52) }], budget);
  }
  if (args[0] !== MODE.batch) return null;
  if (args.toString('hex', 6, 10) !== BATCHES) return readBatch(execution, budget);
  const batches = listAt(execution, 0, CALLS_MAX);
  return batches && (readAll(batchesOf(batches, budget), budget)?.flat() ?? null);
}

function* batchesOf({ content, length }: List, budget: Budget): Generator<readonly AccountCall[] | null> {
  for (let index = 0; index < length; index++) {
    const batch = bytesAt(content, index);
    yield batch && readBatch(batch, budget);
  }
}
