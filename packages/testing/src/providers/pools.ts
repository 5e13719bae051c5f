import { base58 } from '@scure/base';
import { z } from 'zod';
import { behind, evmAt, evmHeadBehind } from '../chains/rpc-lies.ts';
import { type Answer, answering, type Behavior, type Call, refusal, type Request } from './exchange.ts';

/** The node of a pool that a request goes to: each serves once in every round, in another order. */
function inTurn(lags: readonly number[], random: () => number): (request: Request) => number {
  const lagOf = new WeakMap<Request, number>();
  let round: number[] = [];
  return (request) => {
    if (round.length === 0) round = lags.toSorted(() => random() - 0.5);
    const lag = lagOf.get(request) ?? round.shift() ?? 0;
    lagOf.set(request, lag);
    return lag;
  };
}

const logRange = z.tuple([z.object({ toBlock: z.string().transform(BigInt) })]);

/**
 * Nodes of an EVM chain behind one URL: each request goes to one of them.
 * @param lags how many blocks each is behind
 * @param retriedSends the share of sends, at random, that the balancer sends twice: they land, and the response is that
 *   of the second
 * @param catchUpMs so long after the newest block all nodes have it: real ones are behind by time, and the chain of a
 *   test may stand still
 */
export const evmPool = (lags: readonly number[], retriedSends: number, catchUpMs: number): Behavior =>
  answering(({ ask, now, random }) => {
    const lagOf = inTurn(lags, random);
    let newest = { head: -1n, since: 0 };
    const headBehind = async (lag: number): Promise<bigint> => {
      const head = await evmHeadBehind(0n, ask);
      if (head !== newest.head) newest = { head, since: now() };
      return now() - newest.since >= catchUpMs ? head : evmHeadBehind(BigInt(lag), ask);
    };
    const headOf = new WeakMap<Request, Promise<bigint>>();
    let tooLate = 0;
    return async (call, request) => {
      const lag = lagOf(request);
      if (call.method === 'eth_sendRawTransaction' && random() < retriedSends) {
        // What the node refuses, it refuses by itself.
        if ((await ask(call)) === undefined) return null;
        return refusal(200, -32_000, 'nonce too low');
      }
      if (lag === 0) return null;
      const head = await (headOf.get(request) ?? remembered(headOf, request, headBehind(lag)));
      const range = call.method === 'eth_getLogs' ? logRange.safeParse(call.params) : undefined;
      // Some nodes refuse a range that ends after their head, some respond with what they have of it.
      if (range?.success === true && range.data[0].toBlock > head && tooLate++ % 2 === 0)
        return refusal(200, -32_602, 'block range extends beyond current head block');
      const result = await evmAt(head, call, ask);
      return result === undefined ? null : { result };
    };
  });

function remembered<Key extends object, T>(known: WeakMap<Key, T>, key: Key, value: T): T {
  known.set(key, value);
  return value;
}

/** A node so many slots behind says that it is unhealthy. */
const UNHEALTHY = 100;
/** Blockhashes that are known with their slot: as many as are alive. */
const BLOCKHASHES_MAX = 300;
const inContext = z.object({ context: z.looseObject({ slot: z.number() }), value: z.unknown() });
const lifetime = z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() });
const block = z.object({ blockhash: z.string() });
const config = z.looseObject({ minContextSlot: z.number(), commitment: z.string().nullish() });
const withSignatures = z.tuple([z.array(z.unknown())]).rest(z.unknown());
const withBlockhash = z.tuple([z.string()]).rest(z.unknown());
const preflight = z.looseObject({
  skipPreflight: z.unknown().optional(),
  preflightCommitment: z.string().catch('finalized'),
});
const withWire = z.tuple([z.string(), z.looseObject({ encoding: z.string().nullish() }).nullish()]);

const BLOCKHASH_NOT_FOUND = { err: 'BlockhashNotFound', logs: [], accounts: null, unitsConsumed: 0, returnData: null };

/**
 * Nodes of Solana behind one URL: each request goes to one of them. One that is far behind says that it is
 * unhealthy, and has no statuses.
 * @param lags how many slots each is behind
 */
export const solanaPool = (lags: readonly number[]): Behavior =>
  answering(({ ask, random }) => {
    const lagOf = inTurn(lags, random);
    /** The blockhashes that were given out here. */
    const slotOf = new Map<string, number>();
    const newestSlot = async (commitment: string): Promise<number> =>
      z.number().parse(await ask({ method: 'getSlot', params: [{ commitment }] }));

    /** The response of the newest node as one of an earlier slot. */
    async function earlier(call: Call, lag: number): Promise<Answer | null> {
      const known = inContext.safeParse(await ask(call)).data;
      if (known === undefined) return null;
      return { result: { ...known, context: { ...known.context, slot: known.context.slot - lag } } };
    }
    async function latestBlockhash(call: Call, lag: number): Promise<Answer | null> {
      const known = inContext.extend({ value: lifetime }).safeParse(await ask(call)).data;
      if (known === undefined) return null;
      const slot = known.context.slot - lag;
      const params = [slot, { transactionDetails: 'none', rewards: false, commitment: 'confirmed' }];
      const { blockhash } = lag === 0 ? known.value : block.parse(await ask({ method: 'getBlock', params }));
      for (const old of [...slotOf.keys()].slice(0, slotOf.size + 1 - BLOCKHASHES_MAX)) slotOf.delete(old);
      slotOf.set(blockhash, slot);
      const lastValidBlockHeight = known.value.lastValidBlockHeight - lag;
      return { result: { context: { ...known.context, slot }, value: { blockhash, lastValidBlockHeight } } };
    }
    /** Whether the transaction names a blockhash that a node with this slot does not have yet. */
    function isTooNew(params: readonly unknown[], slot: number): boolean {
      const parsed = withWire.safeParse(params);
      if (!parsed.success) return false;
      const [text, options] = parsed.data;
      const bytes = Buffer.from(options?.encoding === 'base64' ? Buffer.from(text, 'base64') : base58.decode(text));
      return [...slotOf].some(([blockhash, of]) => of > slot && bytes.includes(Buffer.from(base58.decode(blockhash))));
    }
    async function ofLagging(call: Call, lag: number): Promise<Answer | null> {
      const { method, params } = call;
      const slotAt = async (commitment: string): Promise<number> => (await newestSlot(commitment)) - lag;
      const behindBySlots = refusal(200, -32_005, `Node is behind by ${lag} slots`, { numSlotsBehind: lag });
      switch (method) {
        case 'isBlockhashValid': {
          const slot = await slotAt('processed');
          const isKnown = (slotOf.get(withBlockhash.parse(params)[0]) ?? 0) <= slot;
          return isKnown ? earlier(call, lag) : { result: { context: { slot }, value: false } };
        }
        case 'simulateTransaction': {
          const slot = await slotAt('processed');
          if (!isTooNew(params, slot)) return earlier(call, lag);
          return { result: { context: { slot }, value: BLOCKHASH_NOT_FOUND } };
        }
        case 'sendTransaction': {
          const { skipPreflight, preflightCommitment } = preflight.parse({ ...(params[1] ?? {}) });
          // A node forwards what it does not check.
          if (skipPreflight === true) return null;
          if (lag >= UNHEALTHY) return behindBySlots;
          return isTooNew(params, await slotAt(preflightCommitment))
            ? refusal(200, -32_002, 'Transaction simulation failed: Blockhash not found', BLOCKHASH_NOT_FOUND)
            : null;
        }
        case 'getHealth':
          return lag >= UNHEALTHY ? behindBySlots : null;
        case 'getSignatureStatuses':
          if (lag >= UNHEALTHY) {
            const value = withSignatures.parse(params)[0].map(() => null);
            return { result: { context: { slot: await slotAt('confirmed') }, value } };
          }
      }
      const result = await behind(lag)(call, ask);
      return result === undefined ? null : { result };
    }

    return async (call, request) => {
      const lag = lagOf(request);
      const [options] = call.params.flatMap((one) => config.safeParse(one).data ?? []);
      if (options !== undefined) {
        const contextSlot = (await newestSlot(options.commitment ?? 'finalized')) - lag;
        if (options.minContextSlot > contextSlot)
          return refusal(200, -32_016, 'Minimum context slot has not been reached', { contextSlot });
      }
      if (call.method === 'getLatestBlockhash') return latestBlockhash(call, lag);
      return lag === 0 ? null : ofLagging(call, lag);
    };
  });
