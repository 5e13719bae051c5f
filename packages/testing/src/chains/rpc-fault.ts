/** What a bad upstream does to a whole HTTP request. */
export type RequestFault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'malformed' }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Hands the request on, and then never answers. */
  | { readonly kind: 'swallow' }
  /** Closes the connection without an answer. */
  | { readonly kind: 'cut' }
  /** Hands the request on, and then closes the connection without an answer. */
  | { readonly kind: 'lose' };

/** What it answers to single questions, each of a batch for itself. */
export type AnswerFault =
  /** A JSON-RPC error. */
  | { readonly kind: 'refuse'; readonly reason: string }
  /** Null and empty lists for transactions, receipts, states and logs, whatever happened. */
  | { readonly kind: 'forgetful' }
  /** The chain as it was so many blocks or slots ago: old heads, nothing of what came later. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** It says that it serves another chain. */
  | { readonly kind: 'stranger' };

/** Which requests a fault is for; without these, all. */
interface Aim {
  /** For requests that ask one of these, and of an AnswerFault for these questions only. */
  readonly methods?: readonly string[];
  /** 0 to 1: of those, at random. */
  readonly share?: number;
  /** For so many, and then no more. */
  readonly times?: number;
}
export type RpcFault = (RequestFault | AnswerFault) & Aim;

const ofAnswers = new Set<RpcFault['kind']>([
  'refuse',
  'forgetful',
  'behind',
  'stranger',
] satisfies AnswerFault['kind'][]);
export const isAnswerFault = (fault: RpcFault): fault is AnswerFault & Aim => ofAnswers.has(fault.kind);

/** The faults of an upstream that are in force, in order: of those that are for a request the first one counts. */
export class RpcFaults {
  #waiting: { readonly fault: RpcFault; left: number }[] = [];

  set(faults: readonly RpcFault[]): void {
    this.#waiting = faults.map((fault) => ({ fault, left: fault.times ?? Infinity }));
  }
  /** Those that still wait for a request of theirs. */
  get all(): readonly RpcFault[] {
    return this.#waiting.map(({ fault }) => fault);
  }

  /** The fault of a request that asks these methods, which is thereby used once; null: it goes well. */
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
