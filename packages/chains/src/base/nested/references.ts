import type { Address, Reference } from '@pf/domain';
import type { Log } from '../../evm/calls.ts';
import { decodeTransfer, INPUT_MAX_BYTES } from '../calldata.ts';
import { type LoggedTransfer, readTransfer } from '../observe/landings.ts';
import { callsOf } from './account-calls.ts';
import { authorizedIn } from './authorized.ts';
import type { CallFrame } from './call-trace.ts';
import { type Execution, executionsOf, isEntryPoint } from './user-operations.ts';

/** A transaction that calls a contract other than a token, and the kept logs of its receipt. */
export interface NestedTransaction {
  readonly from: Address;
  readonly to: Address | null;
  /** Calldata as hex. */
  readonly input: string;
  readonly logs: readonly Log[];
}

/** Of a transfer that the account from which it was made did not order itself: a spender pulled it, for example. */
export const NOT_ORDERED = 'not ordered';

/**
 * The reference that each transfer of a transaction carries, by the index of its log; null for one that its account
 * ordered without any. A transfer that is not in here could not be explained.
 */
export type References = ReadonlyMap<bigint, Reference | typeof NOT_ORDERED | null>;

/**
 * What is known from the logs: the nonces of authorizations. And from the calldata: what an account was told to do by
 * whoever may tell it (a user operation, which the account itself has accepted, or a transaction that it sent to
 * itself), opened down to the calls of tokens. What another account sends to a contract says nothing about what that
 * does. Each other transfer that the account made is the
 * effect of exactly one of these calls. Where there are as many of one kind (token, recipient, amount) as transfers
 * were logged, they belong together in their order. Otherwise something else made a transfer, or a call failed, and
 * none of that kind is explained.
 */
export function referencesByCalldata(transaction: NestedTransaction): References {
  const references = new Map<bigint, Reference | null>(authorizedIn(transaction.logs));
  for (const execution of readExecutions(transaction) ?? []) explain(execution, references);
  return references;
}

function readExecutions({ from, to, input, logs }: NestedTransaction): readonly Execution[] | null {
  if (to === null || input.length > 2 + 2 * INPUT_MAX_BYTES) return null;
  if (isEntryPoint(to)) return executionsOf(to, Buffer.from(input.slice(2), 'hex'), logs);
  return from === to ? [{ account: to, calldata: Buffer.from(input.slice(2), 'hex'), logs }] : null;
}

const kindOf = (token: string, to: Address, amount: bigint): string => `${token} ${to} ${amount}`;

function explain({ account, calldata, logs }: Execution, references: Map<bigint, Reference | null>): void {
  const transfers = Map.groupBy(
    logs.flatMap((log) => {
      const transfer = readTransfer(log);
      return transfer?.from === account && !references.has(log.logIndex) ? [transfer] : [];
    }),
    ({ to, amount, log }) => kindOf(log.address, to, amount),
  );
  if (transfers.size === 0) return;
  const calls = Map.groupBy(
    (callsOf(account, calldata) ?? []).flatMap(({ to: token, data }) => {
      const call = decodeTransfer(data);
      return call === null ? [] : [{ ...call, token }];
    }),
    ({ token, to, amount }) => kindOf(token, to, amount),
  );
  for (const [kind, made] of transfers) {
    const meant = calls.get(kind) ?? [];
    if (meant.length !== made.length) continue;
    for (const [place, { log }] of made.entries()) references.set(log.logIndex, meant[place]?.reference ?? null);
  }
}

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
