import type { TransactionHash } from '@pf/domain';
import { type RpcCall, rpcCall } from '@pf/rpc';
import { z } from 'zod';
import { bytes } from '../../evm/calls.ts';

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text.toLowerCase());

/** A log in a trace: `position` calls were made before it. */
const tracedLog = z.object({
  address: hex,
  topics: z.array(hex),
  data: bytes,
  position: z
    .union([z.number(), hex.transform(Number)])
    .nullish()
    .transform((position) => position ?? 0),
});

/** A call as Geth's callTracer shows it. */
export interface CallFrame {
  readonly type: string;
  readonly from: string;
  readonly to: string | null;
  readonly input: string;
  readonly error: string | null;
  readonly calls: readonly CallFrame[];
  readonly logs: readonly z.infer<typeof tracedLog>[];
}

const callFrame: z.ZodType<CallFrame> = z.object({
  type: z.string(),
  from: hex,
  to: hex.nullish().transform((to) => to ?? null),
  input: hex,
  error: z
    .string()
    .nullish()
    .transform((error) => error ?? null),
  calls: z
    .array(z.lazy(() => callFrame))
    .nullish()
    .transform((calls) => calls ?? []),
  logs: z
    .array(tracedLog)
    .nullish()
    .transform((logs) => logs ?? []),
});

/** All calls of a transaction with their logs. Many providers do not offer it. */
export const getCallTrace = (hash: TransactionHash): RpcCall<CallFrame> =>
  rpcCall('debug_traceTransaction', [hash, { tracer: 'callTracer', tracerConfig: { withLog: true } }], callFrame);
