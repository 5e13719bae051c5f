import type { TransactionHash } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
import { getReceipt, type Receipt } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import type { Findings, Unjudged } from '../../evm/observe/reading.ts';
import { dueAgain, type SetAside } from '../../set-aside.ts';
import { keptLogsOf } from '../nested/kept-logs.ts';
import type { Scan } from './context.ts';
import type { Seen } from './position.ts';
import { Room } from './room.ts';
import { judge, transfersIn } from './scan.ts';

/** Transactions in one step, and ms after which no more are begun. */
const AGAIN_MAX = 10;
const AGAIN_MS = 500;
/** After a look that took long there is none for so many times as long: what is slow to read delays nothing else. */
const PAUSE_SHARE = 10;

export interface SecondLook extends Findings<Seen> {
  readonly judged: ReadonlySet<TransactionHash>;
}

/** Looks again at transactions that could not be judged, each by its whole receipt. */
export async function lookAgain(context: Scan, setAside: readonly SetAside[]): Promise<SecondLook> {
  const { memory, now } = context;
  const due = now < memory.againFrom ? [] : dueAgain(setAside, now, AGAIN_MAX);
  if (due.length === 0) return { found: [], unjudged: [], judged: new Set() };
  const began = performance.now();
  // What new blocks bring never takes the room of what waits.
  memory.room = new Room();
  const looked = new Set<TransactionHash>();
  const unread: Unjudged[] = [];
  const receipts: Receipt[] = [];
  for (const one of due) {
    if (performance.now() - began > AGAIN_MS) break;
    looked.add(one.hash);
    const receipt = await readReceiptAgain(context, one.hash);
    if (typeof receipt === 'string') unread.push({ ...one, reason: receipt });
    else receipts.push(receipt);
  }
  const { found, unjudged } = await judge(
    context,
    receipts
      .filter(({ status }) => status !== 0n)
      .flatMap((receipt) => transfersIn(context, receipt.logs).map((transfer) => ({ transfer, receipt }))),
  );
  const elapsed = performance.now() - began;
  if (elapsed > AGAIN_MS) memory.againFrom = now + PAUSE_SHARE * elapsed;
  const failed = [...unread, ...unjudged];
  for (const { hash } of failed) looked.delete(hash);
  return { found, unjudged: failed, judged: looked };
}

/** From this upstream, or else from another one. A reason where neither has it. */
export async function readReceiptAgain(
  { node, pool, network }: Pick<Scan, 'node' | 'pool' | 'network'>,
  hash: TransactionHash,
): Promise<Receipt | string> {
  const read = async (by: RpcNode): Promise<Receipt | string> => {
    const [receipt = null] = await readEach(by, [getReceipt(hash, keptLogsOf(network))]);
    return receipt instanceof Unreadable ? receipt.reason : (receipt ?? 'no receipt of it was found');
  };
  const first = await read(node);
  return typeof first === 'string' ? ((await pool.onAnother(node, read)) ?? first) : first;
}
