/** How a faulty upstream handles a whole HTTP request. */
export type RequestFault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'malformed' }
  /** Accepts the request and never responds. */
  | { readonly kind: 'hang' }
  /** Forwards the request and never responds. */
  | { readonly kind: 'swallow' }
  /** Closes the connection without a response. */
  | { readonly kind: 'cut' }
  /** Forwards the request, then closes the connection without a response. */
  | { readonly kind: 'lose' };

/** How a faulty upstream responds to single calls, also to those in a batch. */
export type ResponseFault =
  /** A JSON-RPC error. */
  | { readonly kind: 'refuse'; readonly reason: string; readonly code?: number }
  /** Null and empty lists for transactions, receipts, statuses and logs. */
  | { readonly kind: 'forgetful' }
  /** The chain as it was this many blocks or slots ago: old heads, and nothing later. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Reports the id of another chain. */
  | { readonly kind: 'stranger' };

/** Which requests a fault applies to; by default all. */
interface FaultFilter {
  /** Requests with one of these methods; a ResponseFault applies only to these calls. */
  readonly methods?: readonly string[];
  /** 0 to 1: the share of these requests, at random. */
  readonly share?: number;
  /** How many requests, then no more. */
  readonly times?: number;
}
export type RpcFault = (RequestFault | ResponseFault) & FaultFilter;

const ofAnswers = new Set<RpcFault['kind']>([
  'refuse',
  'forgetful',
  'behind',
  'stranger',
] satisfies ResponseFault['kind'][]);
export const isResponseFault = (fault: RpcFault): fault is ResponseFault & FaultFilter => ofAnswers.has(fault.kind);

/** The active faults of an upstream, in order: the first that applies to a request counts. */
export class RpcFaults {
  #waiting: { readonly fault: RpcFault; left: number }[] = [];

  set(faults: readonly RpcFault[]): void {
    this.#waiting = faults.map((fault) => ({ fault, left: fault.times ?? Infinity }));
  }
  /** The faults that still apply to future requests. */
  get all(): readonly RpcFault[] {
    return this.#waiting.map(({ fault }) => fault);
  }

  /** Takes the fault for a request with these methods and counts its use; null: no fault applies. */
  take(methods: readonly string[]): RpcFault | null {
    const found = this.#waiting.find(
      ({ fault: { methods: aimedAt, share = 1 } }) =>
        (aimedAt === undefined || methods.some((method) => aimedAt.includes(method))) && Math.random() < share,
    );
    if (found === undefined) return null;
    found.left -= 1;
    if (found.left === 0) this.#waiting = this.#waiting.filter((one) => one !== found);
    return found.fault;
  }
}
