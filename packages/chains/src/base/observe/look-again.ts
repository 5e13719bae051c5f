import { dueBesides } from '../../evm/observe/due-again.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import type { SecondLook } from '../../evm/observe/step.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import type { SetAside } from '../../set-aside.ts';
import type { Scan } from './context.ts';
import type { Seen } from './position.ts';
import { fetchReceipts } from './receipts.ts';
import { Room, TRACES_AT_ONCE } from './room.ts';
import { type Hit, judge, transfersIn } from './scan.ts';
import type { Sighting } from './sighting.ts';

/** Transactions in one step. */
const AGAIN_MAX = 8;

/** Looks again at transactions that could not be judged, each by all that it has logged. */
export async function lookAgain(context: Scan, setAside: readonly SetAside[]): Promise<SecondLook<Seen>> {
  const { watch, now, late } = context;
  const { come, beside, again } = dueBesides(watch, setAside, now, AGAIN_MAX, late);
  const begun = beside.filter(({ hash, place }) => late?.begin(hash, place) === true);
  const due = [...come, ...again];
  const stillLate = begun.map((one) => ({ ...one, reason: NOT_IN_TIME }));
  if (due.length === 0) return { found: [], unjudged: stillLate, judged: new Set() };
  // What new blocks bring never takes the room of what waits.
  context.memory.room = new Room(context.memory.room, TRACES_AT_ONCE);
  const judged = new Set(due.map(({ hash }) => hash));
  const fetched = await fetchReceipts(context, again);
  const receipts = new Map(again.map(({ hash }, place) => [hash, fetched[place]]));
  const unread: Unjudged[] = [...stillLate];
  const hits: Hit[] = [];
  for (const one of due) {
    const { by = '', transaction, logged, traced } = late?.come.get(one.hash) ?? {};
    const receipt = logged ?? receipts.get(one.hash) ?? one.reason;
    const missing = [transaction, receipt].find((part) => typeof part === 'string');
    if (typeof missing === 'string') unread.push({ ...one, reason: missing });
    if (typeof transaction === 'string' || typeof receipt === 'string' || receipt.status === 0n) continue;
    const sent = transaction === undefined ? {} : { sent: { transaction, by }, ...(traced && { traced }) };
    hits.push(...transfersIn(context, receipt.logs).map((transfer) => ({ transfer, receipt, ...sent })));
  }
  const arrived: Sighting[] = [];
  const { found, unjudged } = await judge({ ...context, noteSighting: (one) => arrived.push(one) }, hits);
  // Its blocks may have been read for the last time.
  const full = new Set(arrived.filter((one) => context.takeSighting?.(one) === false).map(({ hash }) => hash));
  const unheard = due.filter(({ hash }) => full.has(hash));
  const failed = [
    ...unread,
    ...unjudged,
    ...unheard.map((one) => ({ ...one, reason: 'too much that pays no intent arrived at once' })),
  ];
  for (const { hash } of failed) judged.delete(hash);
  return { found, unjudged: failed, judged };
}
