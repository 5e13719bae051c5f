import type { TransactionHash } from '@pf/domain';
import { boundedTo, type RpcCall, varying } from '@pf/rpc';
import { type KeptLogs, STRANGERS_MAX_BYTES } from '../../evm/calls.ts';

/** A log in a trace, in lower case: `position` calls were made before it. */
interface FrameLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly position: number;
}

/** A call as Geth's callTracer shows it. Addresses are in lower case. */
export interface CallFrame {
  readonly type: string;
  readonly from: string;
  readonly to: string | null;
  readonly input: string;
  readonly error: string | null;
  readonly calls: readonly CallFrame[];
  readonly logs: readonly FrameLog[];
}

/**
 * All calls of a transaction, with the logs that are kept. Many providers do not offer it. It may have tens of
 * thousands of calls, so it is read by hand: schemas take ten times as long.
 */
export const getCallTrace = (hash: TransactionHash, keeps: KeptLogs): RpcCall<CallFrame> =>
  varying(
    boundedTo(STRANGERS_MAX_BYTES, {
      method: 'debug_traceTransaction',
      params: [hash, { tracer: 'callTracer', tracerConfig: { withLog: true } }],
      parse: (result) => readFrame(result, keeps),
    }),
  );

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Error('a part of the trace is no object');
  return value as Fields;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a part of the trace is no text');
  return value;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function readFrame(value: unknown, keeps: KeptLogs): CallFrame {
  const { type, from, to, input, error, calls, logs } = fieldsOf(value);
  return {
    type: text(type),
    from: text(from).toLowerCase(),
    to: typeof to === 'string' ? to.toLowerCase() : null,
    input: text(input),
    error: error === undefined || error === null ? null : text(error),
    calls: listOf(calls).map((call) => readFrame(call, keeps)),
    logs: listOf(logs).flatMap((log) => readLog(log, keeps)),
  };
}

function readLog(value: unknown, keeps: KeptLogs): readonly FrameLog[] {
  const log = fieldsOf(value);
  const address = text(log['address']).toLowerCase();
  const topics = listOf(log['topics']).map((topic) => text(topic).toLowerCase());
  if (!keeps(address, topics[0])) return [];
  return [{ address, topics, data: text(log['data'] ?? '0x').toLowerCase(), position: Number(log['position'] ?? 0) }];
}
