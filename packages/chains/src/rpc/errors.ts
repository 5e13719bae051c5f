/** The node's no, a JSON-RPC error of its own: an answer, never thrown. Asked for by `refusable`. */
export class RpcRefusedError extends Error {
  override readonly name = 'RpcRefusedError';
  readonly code: number;
  /** What else the node said: the revert's data as hex, as a rule. */
  readonly data: unknown;
  constructor(message: string, code: number, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** How an upstream failed to answer, for metrics. */
export type RpcFault = 'timeout' | 'unreachable' | 'throttled' | 'http' | 'malformed' | 'rpc';

/** No usable answer came from this upstream: it could not be reached, hung, was busy, or answered what cannot be read. */
export class RpcUnreachedError extends Error {
  override readonly name = 'RpcUnreachedError';
  /** `no`: the request surely had no effect there. `maybe`: it may have been taken. */
  readonly taken: 'no' | 'maybe';
  readonly fault: RpcFault;
  constructor(message: string, taken: 'no' | 'maybe', cause?: unknown, fault: RpcFault = 'rpc') {
    super(message, { cause });
    this.taken = taken;
    this.fault = fault;
  }
}
