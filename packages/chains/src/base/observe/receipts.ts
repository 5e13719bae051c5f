import { type Receipt, getReceipt } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { keptLogsOf } from '../nested/kept-logs.ts';
import type { Scan } from './context.ts';
import type { Nested } from './nested-payments.ts';

/**
 * Receipts of one request are of transactions that may use so much gas together: even if they spend all of it on empty
 * logs (375 gas, some 450 bytes of JSON), the response has 4 MB. One that may use more is asked for alone.
 */
const GAS_AT_ONCE = 3_000_000n;
const RECEIPTS_AT_ONCE = 20;

/** A nested transaction with its receipt, or why there is none. */
interface Read {
  readonly nested: Nested;
  readonly receipt: Receipt | string;
}

/** Reads the receipts of these transactions, in parts whose size does not depend on what strangers write. */
export async function* readReceiptsOf(
  context: Scan,
  all: readonly { readonly nested: Nested }[],
): AsyncGenerator<Read> {
  const unread: Nested[] = [];
  for (const { nested } of all)
    if (nested.receipt === undefined) unread.push(nested);
    else yield { nested, receipt: nested.receipt };
  for (const part of inParts(unread)) {
    const isLarge = part.length === 1 && (part[0]?.transaction.gas ?? 0n) > GAS_AT_ONCE;
    const receipts = isLarge && !context.memory.room.hasReceipts ? null : await readPart(context, part);
    for (const [place, nested] of part.entries())
      yield { nested, receipt: receipts?.[place] ?? 'there was no room for its receipt' };
  }
}

/** Small ones first: they never wait for what is large. */
function* inParts(all: readonly Nested[]): Generator<readonly Nested[]> {
  const isSmall = ({ transaction: { gas } }: Nested): boolean => gas <= GAS_AT_ONCE;
  let part: Nested[] = [];
  let gas = 0n;
  for (const nested of all.filter(isSmall)) {
    if (part.length === RECEIPTS_AT_ONCE || gas + nested.transaction.gas > GAS_AT_ONCE) {
      yield part;
      [part, gas] = [[], 0n];
    }
    part.push(nested);
    gas += nested.transaction.gas;
  }
  if (part.length > 0) yield part;
  for (const nested of all) if (!isSmall(nested)) yield [nested];
}

/** What this node does not have may be had from another one, which is asked at once. */
async function readPart(context: Scan, part: readonly Nested[]): Promise<readonly (Receipt | string)[]> {
  const { node, pool, network, memory } = context;
  const keeps = keptLogsOf(network);
  const callsOf = (some: readonly Nested[]) => some.map(({ transaction: { hash } }) => getReceipt(hash, keeps));
  const judge = (nested: Nested, receipt: Receipt | Unreadable | null): Receipt | string => {
    if (receipt instanceof Unreadable) return receipt.reason;
    if (receipt === null) return 'no receipt of it was found';
    return receipt.blockHash === nested.transfers[0]?.log.blockHash ? receipt : 'its receipt is of another block';
  };
  const first = (await readEach(node, callsOf(part))).map((receipt, place) => judge(part[place] as Nested, receipt));
  const lacking = part.filter((_nested, place) => typeof first[place] === 'string');
  if (lacking.length === 0) return first;
  const others = await pool.onAnother(node, (other) => readEach(other, callsOf(lacking)));
  const second = new Map(others?.map((receipt, place) => [lacking[place], judge(lacking[place] as Nested, receipt)]));
  const both = first.map((one, place) => {
    const other = second.get(part[place]);
    return typeof one === 'string' && other !== undefined ? other : one;
  });
  if (both.some((one) => typeof one === 'string')) memory.room.receiptFailed();
  return both;
}
