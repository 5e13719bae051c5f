import type { Reference } from '@pf/domain';
import type { Log } from '../../evm/calls.ts';
import { decodePull, decodeTransfer } from '../calldata.ts';
import { type LoggedTransfer, readTransfer } from '../observe/landings.ts';
import { authorizedIn } from './authorized.ts';
import type { CallFrame } from './call-trace.ts';
import type { TokenCall } from './token-calls.ts';

/** Of a transfer that the account from which it was made did not order itself: a spender pulled it, for example. */
export const NOT_ORDERED = 'not ordered';

/**
 * The reference that each transfer of a transaction carries, by the index of its log; null for one that its account
 * ordered without any. A transfer that is not in here could not be explained.
 */
export type References = ReadonlyMap<bigint, Reference | typeof NOT_ORDERED | null>;

/** Whether a transfer is the payment of an intent, of whichever. */
export const carriesReference = (references: References, { log }: Pick<LoggedTransfer, 'log'>): boolean =>
  ![undefined, null, NOT_ORDERED].includes(references.get(log.logIndex));

/**
 * What is known from a trace: the call of the token that made each transfer. Null where the trace is not of these logs.
 */
export function referencesByTrace(trace: CallFrame, logs: readonly Log[]): References | null {
  const made = [...logsOf(trace, null)];
  const isSame = (log: Log, { address, topics, data }: TracedLog): boolean =>
    log.address.toLowerCase() === address && log.data === data && log.topics.join() === topics.join();
  if (made.length !== logs.length || !logs.every((log, place) => isSame(log, made[place] as TracedLog))) return null;
  const references = new Map<bigint, Reference | typeof NOT_ORDERED | null>();
  const used = new Set<CallFrame>();
  for (const [place, log] of logs.entries()) {
    const transfer = readTransfer(log);
    const call = made[place]?.call;
    if (transfer === null || call === undefined) continue;
    // A call pays once: what a token logs beside it (a fee that it takes) was not ordered.
    const reference = used.has(call) ? NOT_ORDERED : referenceIn(call, transfer);
    references.set(log.logIndex, reference);
    if (reference !== NOT_ORDERED) used.add(call);
  }
  return references;
}

/**
 * What is known from all calls of the tokens in a transaction, which may have been undone by a failure around them: a
 * transfer that was logged is the effect of one of the calls that can have made it. Where all of these carry the same
 * reference, it carries that. A transfer of an authorization is not in here.
 */
export function referencesByCalls(calls: readonly TokenCall[], logs: readonly Log[]): References {
  const authorized = authorizedIn(logs);
  const transfers = logs.flatMap((log) => (authorized.has(log.logIndex) ? [] : (readTransfer(log) ?? [])));
  const references = new Map<bigint, Reference | typeof NOT_ORDERED | null>();
  for (const alike of Map.groupBy(transfers, kindOf).values()) {
    const [first] = alike;
    const makers = first === undefined ? [] : calls.flatMap((call) => madeBy(call, first) ?? []);
    const [reference, another] = new Set(makers.map((made) => made.reference));
    if (reference === undefined || another !== undefined || makers.length < alike.length) continue;
    for (const { log } of alike) references.set(log.logIndex, reference);
  }
  return references;
}

const kindOf = ({ from, to, amount, log }: LoggedTransfer): string => `${log.address} ${from} ${to} ${amount}`;

/** What a transfer carries if this call has made it; null where it cannot have. */
function madeBy(
  { from: caller, to: token, input }: TokenCall,
  { from, to, amount, log }: LoggedTransfer,
): { readonly reference: Reference | typeof NOT_ORDERED | null } | null {
  if (token !== log.address) return null;
  const data = Buffer.from(input.slice(2), 'hex');
  const ordered = caller === from ? decodeTransfer(data) : null;
  if (ordered !== null) return ordered.to === to && ordered.amount === amount ? ordered : null;
  const pull = decodePull(data);
  const isPulled = pull?.from === from && pull.to === to && pull.amount === amount;
  return isPulled ? { reference: NOT_ORDERED } : null;
}

interface TracedLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  /** The call in which it was made. Code that a contract borrows (a proxy's) makes logs in the contract's own call. */
  readonly call: CallFrame;
}

const BORROWS_CODE = new Set(['DELEGATECALL', 'CALLCODE']);

/** The logs of a call and those under it, in the order of the receipt. What failed has left none. */
function* logsOf(frame: CallFrame, caller: CallFrame | null): Generator<TracedLog> {
  if (frame.error !== null) return;
  const call = caller !== null && BORROWS_CODE.has(frame.type) ? caller : frame;
  let next = 0;
  for (const [place, inner] of frame.calls.entries()) {
    for (let log = frame.logs[next]; log !== undefined && log.position <= place; log = frame.logs[next]) {
      yield { ...log, call };
      next++;
    }
    yield* logsOf(inner, call);
  }
  for (const log of frame.logs.slice(next)) yield { ...log, call };
}

/** The reference in the token's call that made a transfer; null where it has none. */
function referenceIn(
  call: CallFrame,
  { from, to, amount, log }: LoggedTransfer,
): Reference | typeof NOT_ORDERED | null {
  if (call.type !== 'CALL' || call.to !== log.address.toLowerCase() || call.from !== from.toLowerCase())
    return NOT_ORDERED;
  const ordered = decodeTransfer(Buffer.from(call.input.slice(2), 'hex'));
  return ordered?.to === to && ordered.amount === amount ? ordered.reference : NOT_ORDERED;
}
