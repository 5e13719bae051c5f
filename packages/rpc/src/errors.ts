/**
 * The node's JSON-RPC error. `RpcNode` returns it for calls that are `refusable`; the client of a single node throws
 * it.
 */
export class RpcRefusedError extends Error {
  override readonly name = 'RpcRefusedError';
  readonly code: number;
  /** The error's `data`: usually the revert data as hex. */
  readonly data: unknown;
  constructor(message: string, code: number, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Why a request to an upstream failed: the `error.type` of metrics. */
export type RpcFault = 'timeout' | 'unreachable' | 'throttled' | 'http' | 'malformed' | 'unsupported' | 'rpc';

/**
 * One upstream gave no usable response: it was unreachable, hung, was busy, or sent something that cannot be parsed.
 */
export class RpcUpstreamError extends Error {
  override readonly name = 'RpcUpstreamError';
  /** `no`: the request certainly had no effect there. `maybe`: the node may have processed it. */
  readonly delivered: 'no' | 'maybe';
  readonly fault: RpcFault;
  /** How long a throttled upstream asks to be left alone; null where it does not say. */
  readonly pauseMs: number | null;
  constructor(
    message: string,
    delivered: 'no' | 'maybe',
    cause?: unknown,
    fault: RpcFault = 'rpc',
    pauseMs: number | null = null,
  ) {
    super(message, { cause });
    this.delivered = delivered;
    this.fault = fault;
    this.pauseMs = pauseMs;
  }
}

/** In the message about a response that was broken off as it is too long: of a decoder, of ours, and of undici. */
const TOO_LONG = /ERR_BUFFER_TOO_LARGE|UND_ERR_RES_EXCEEDED_MAX_SIZE/;
/** Whether the response was longer than is read. What asks for less may get one. */
export const isTooLong = (message: string): boolean => TOO_LONG.test(message);

/**
 * The upstream has not come as far as it or another one had before. The next one is asked; this one has not failed, as
 * a block or two are the usual difference between nodes.
 */
export class RpcBehindError extends RpcUpstreamError {
  constructor(message: string) {
    super(message, 'no');
  }
}

/**
 * The upstream refuses a call in words that may be the chain's answer or its own trouble: another one is asked. This
 * one has not failed.
 */
export class RpcClaimError extends RpcUpstreamError {
  constructor(message: string) {
    super(message, 'no');
  }
}

/** One response to a whole batch: an error, or a status that says no more. */
export class RpcBatchError extends RpcUpstreamError {
  /** HTTP's. */
  readonly status: number;
  /** What the node says; null where it says nothing. */
  readonly error: { readonly code: number; readonly message: string } | null;
  constructor(name: string, status: number, error: RpcBatchError['error'], pauseMs: number | null) {
    const said = error === null ? '' : `: ${error.message} (${error.code})`;
    super(`${name} refused a batch with HTTP ${status}${said}`, 'no', undefined, 'http', pauseMs);
    this.status = status;
    this.error = error;
  }
}

/** No upstream of a network responds now: 503 `rpc.unavailable`. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError';
  readonly retryAfterSeconds: number;
  constructor(message: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
  }
}
