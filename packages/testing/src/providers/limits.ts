import { z } from 'zod';
import { answering, type Behavior, type Call, type Refusal, refusing, type Request, revising } from './exchange.ts';

/** Which calls a limit counts, and how much each costs. */
interface Counted {
  /** By default all. */
  readonly methods?: readonly string[];
  /** The price of a call by method; by default 1. */
  readonly prices?: Readonly<Record<string, number>>;
  /** The price of every other method; by default 1. */
  readonly price?: number;
}

const priceOf = ({ methods, prices, price = 1 }: Counted, { method }: Call): number =>
  methods?.includes(method) === false ? 0 : (prices?.[method] ?? price);

/**
 * Refuses arrays with more of the counted calls than `max`; 0: all arrays.
 * @param answers the first of them once, then the next; the last for ever
 */
export const batches = (max: number, answers: readonly Refusal[], counted: Counted = {}): Behavior =>
  refusing(() => {
    let times = 0;
    return ({ calls, isArray }) => {
      const size = calls.reduce((sum, call) => sum + Math.min(1, priceOf(counted, call)), 0);
      if (!isArray || size <= max) return null;
      times += 1;
      return answers[Math.min(times, answers.length) - 1] ?? null;
    };
  });

export interface Rate extends Counted {
  /** Calls, or credits where calls have prices, that a window has. */
  readonly units: number;
  /** A window begins with its first call. */
  readonly perMs: number;
}

/** Counts calls in windows. @returns takes calls, or returns false: what does not fit is not counted */
function meter(rate: Rate, now: () => number): (calls: readonly Call[]) => boolean {
  let since = Number.NEGATIVE_INFINITY;
  let used = 0;
  return (calls) => {
    const cost = calls.reduce((sum, call) => sum + priceOf(rate, call), 0);
    if (cost === 0) return true;
    if (now() - since >= rate.perMs) [since, used] = [now(), 0];
    if (used + cost > rate.units) return false;
    used += cost;
    return true;
  };
}

/** Refuses a request that does not fit into the rate, with all its calls. */
export const rate = (limit: Rate, ...answers: readonly [Refusal, ...Refusal[]]): Behavior =>
  refusing(({ now }) => {
    const take = meter(limit, now);
    let times = 0;
    return ({ calls }: Request) => {
      if (take(calls)) return null;
      const answer = answers[times % answers.length] ?? answers[0];
      times += 1;
      return answer;
    };
  });

/** Refuses the calls that do not fit into the rate: of an array, single items. */
export const rateOfItems = (limit: Rate, answer: Refusal): Behavior =>
  answering(({ now }) => {
    const take = meter(limit, now);
    return (call) => (take([call]) ? null : answer);
  });

/** Refuses a share of the requests at random: those with one of these methods, by default all. */
export const sometimes = (share: number, answer: Refusal, methods?: readonly string[]): Behavior =>
  refusing(({ random }) => ({ calls }) => {
    const isAimedAt = methods === undefined || calls.some(({ method }) => methods.includes(method));
    return isAimedAt && random() < share ? answer : null;
  });

/** Refuses methods. */
export const unsupported = (methods: readonly string[], answer: Refusal): Behavior =>
  answering(
    () =>
      ({ method }) =>
        methods.includes(method) ? answer : null,
  );

const hex = z.string().regex(/^0x[0-9a-f]+$/i);
const height = hex.transform(Number);
const textOrList = z.union([z.string(), z.array(z.string())]);
const filter = z.object({
  fromBlock: z.string().default('latest'),
  toBlock: z.string().default('latest'),
  address: textOrList.optional(),
  topics: z.array(textOrList.nullable()).default([]),
  blockHash: z.string().optional(),
});
/** What an eth_getLogs asks for; the range is null where a block is named by its hash. */
export interface LogQuery {
  readonly range: { readonly from: number; readonly to: number } | null;
  readonly addresses: readonly string[];
  readonly topics: readonly string[];
  readonly head: number;
}

/** Refuses calls of eth_getLogs. */
export const logs = (judge: () => (query: LogQuery) => Refusal | null): Behavior =>
  answering(({ ask }) => {
    const refusalOf = judge();
    return async ({ method, params }) => {
      const asked = method === 'eth_getLogs' ? filter.safeParse(params[0]) : undefined;
      // The node says what is wrong with it.
      if (asked?.success !== true) return null;
      const { data } = asked;
      const head = height.parse(await ask({ method: 'eth_blockNumber', params: [] }));
      const at = (tag: string): number => (hex.safeParse(tag).success ? Number(tag) : tag === 'earliest' ? 0 : head);
      return refusalOf({
        head,
        range: data.blockHash === undefined ? { from: at(data.fromBlock), to: at(data.toBlock) } : null,
        addresses: [data.address ?? []].flat(),
        topics: data.topics.flatMap((topic) => topic ?? []),
      });
    };
  });

/** Refuses eth_getLogs over more blocks than `max`, first and last included. */
export const logRange = (max: number, answer: (from: number, to: number) => Refusal): Behavior =>
  logs(
    () =>
      ({ range }) =>
        range === null || range.to - range.from < max ? null : answer(range.from, range.to),
  );

const found = z.array(z.object({ blockNumber: height }));
/** Refuses eth_getLogs with more results than `max`. @param answer gets the range that has no more than these */
export const logResults = (max: number, answer: (from: number, to: number) => Refusal): Behavior =>
  revising(({ method, params }, result) => {
    const results = method === 'eth_getLogs' ? found.safeParse(result) : undefined;
    const beyond = results?.data?.[max];
    if (beyond === undefined) return null;
    const { fromBlock } = filter.parse(params[0]);
    const from = hex.safeParse(fromBlock).success ? Number(fromBlock) : 0;
    return answer(from, Math.max(from, beyond.blockNumber - 1));
  });

/** Methods that read state, and the place of the block among their parameters. */
const STATE: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};
/** Refuses the state of blocks that are more than `max` below the head. */
export const stateDepth = (max: number, answer: Refusal): Behavior =>
  answering(({ ask }) => async ({ method, params }) => {
    const place = STATE[method];
    const block = place === undefined ? undefined : hex.safeParse(params[place]);
    if (block?.success !== true) return null;
    const head = height.parse(await ask({ method: 'eth_blockNumber', params: [] }));
    return head - Number(block.data) > max ? answer : null;
  });
