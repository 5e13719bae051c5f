import type { Logged } from '../../evm/calls.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import type { SecondLook } from '../../evm/observe/step.ts';
import { dueAgain, type SetAside } from '../../set-aside.ts';
import type { Scan } from './context.ts';
import type { Seen } from './position.ts';
import { fetchReceipts } from './receipts.ts';
import { Room, TRACES_AT_ONCE } from './room.ts';
import { judge, transfersIn } from './scan.ts';
import type { Sighting } from './sighting.ts';

/** Transactions in one step. */
const AGAIN_MAX = 8;

/** Looks again at transactions that could not be judged, each by all that it has logged. */
export async function lookAgain(context: Scan, setAside: readonly SetAside[]): Promise<SecondLook<Seen>> {
  const due = dueAgain(context.watch, setAside, context.now, AGAIN_MAX);
  if (due.length === 0) return { found: [], unjudged: [], judged: new Set() };
  // What new blocks bring never takes the room of what waits.
  context.memory.room = new Room(context.memory.room, TRACES_AT_ONCE);
  const judged = new Set(due.map(({ hash }) => hash));
  const fetched = await fetchReceipts(context, due);
  const unread: Unjudged[] = [];
  const receipts: Logged[] = [];
  for (const [place, one] of due.entries()) {
    const receipt = fetched[place] ?? one.reason;
    if (typeof receipt === 'string') unread.push({ ...one, reason: receipt });
    else if (receipt.status !== 0n) receipts.push(receipt);
  }
  const hits = receipts.flatMap((receipt) =>
    transfersIn(context, receipt.logs).map((transfer) => ({ transfer, receipt })),
  );
  const arrived: Sighting[] = [];
  const { found, unjudged } = await judge({ ...context, noteSighting: (one) => arrived.push(one) }, hits);
  // Its blocks may have been read for the last time.
  const full = new Set(arrived.filter((one) => context.takeSighting?.(one) === false).map(({ hash }) => hash));
  const waiting = due.filter(({ hash }) => full.has(hash));
  const failed = [
    ...unread,
    ...unjudged,
    ...waiting.map((one) => ({ ...one, reason: 'too much that pays no intent arrived at once' })),
  ];
  for (const { hash } of failed) judged.delete(hash);
  return { found, unjudged: failed, judged };
}
