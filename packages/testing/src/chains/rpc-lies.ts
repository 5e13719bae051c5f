import { z } from 'zod';

/** Responses that differ from the node's: JSON-RPC of EVM chains and of Solana. */

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}
/** Calls the node; undefined when it refuses. */
export type Ask = (call: RpcCall) => Promise<unknown>;
/** The result to return, or an error; undefined: the node's own response. */
export type Lie = (call: RpcCall, ask: Ask) => Promise<unknown>;

/** The ids of a live chain. */
const FOREIGN: Readonly<Record<string, string>> = {
  eth_chainId: '0x1',
  net_version: '1',
  getGenesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
};
export const strange: Lie = ({ method }) => Promise.resolve(FOREIGN[method]);

const NOTHING: Readonly<Record<string, unknown>> = {
  eth_getTransactionByHash: null,
  eth_getTransactionReceipt: null,
  eth_getLogs: [],
  getTransaction: null,
  getSignaturesForAddress: [],
};
const statusParams = z.tuple([z.array(z.unknown())]).rest(z.unknown());
export const forgetful: Lie = async ({ method, params }, ask) => {
  if (method !== 'getSignatureStatuses') return NOTHING[method];
  const context = { slot: z.number().parse(await ask({ method: 'getSlot', params: [{ commitment: 'confirmed' }] })) };
  return { context, value: statusParams.parse(params)[0].map(() => null) };
};

const hex = z
  .string()
  .regex(/^0x[0-9a-f]+$/i)
  .transform(BigInt);
const toHex = (value: bigint): string => `0x${value.toString(16)}`;
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The node as it was this many blocks or slots ago. */
export const behind =
  (blocks: number): Lie =>
  (call, ask) =>
    call.method.includes('_') ? evmBehind(BigInt(blocks), call, ask) : solanaBehind(blocks, call, ask);
/** The head that a node of an EVM chain has so many blocks ago. */
export async function evmHeadBehind(blocks: bigint, ask: Ask): Promise<bigint> {
  const newest = hex.parse(await ask({ method: 'eth_blockNumber', params: [] }));
  return newest > blocks ? newest - blocks : 0n;
}
const evmBehind = async (blocks: bigint, call: RpcCall, ask: Ask): Promise<unknown> =>
  evmAt(await evmHeadBehind(blocks, ask), call, ask);

const NEWEST = new Set<unknown>(['latest', 'pending']);
const landing = z.object({ blockNumber: hex.nullish() }).nullable();
const range = z.tuple([z.looseObject({ fromBlock: hex, toBlock: hex })]);

/** What a node of an EVM chain with this head responds; undefined: the same as the newest. */
export async function evmAt(head: bigint, { method, params }: RpcCall, ask: Ask): Promise<unknown> {
  const blockAt = (tag: unknown): Promise<unknown> =>
    ask({ method: 'eth_getBlockByNumber', params: [tag, ...params.slice(1)] });
  switch (method) {
    case 'eth_blockNumber':
      return toHex(head);
    case 'eth_getBlockByNumber': {
      const [tag] = params;
      if (NEWEST.has(tag)) return blockAt(toHex(head));
      const number = hex.safeParse(tag);
      if (number.success) return number.data > head ? null : undefined;
      const block = z
        .looseObject({ number: hex })
        .nullable()
        .parse(await blockAt(tag));
      return blockAt(toHex(least(block?.number ?? 0n, head)));
    }
    case 'eth_getLogs': {
      const [filter] = range.parse(params);
      return filter.fromBlock > head
        ? []
        : ask({
            method,
            params: [{ ...filter, fromBlock: toHex(filter.fromBlock), toBlock: toHex(least(filter.toBlock, head)) }],
          });
    }
    case 'eth_getTransactionReceipt':
    case 'eth_getTransactionByHash': {
      const block = landing.parse(await ask({ method, params }))?.blockNumber ?? null;
      return block === null || block > head ? null : undefined;
    }
    default:
      return params.some((param) => NEWEST.has(param))
        ? ask({ method, params: params.map((param) => (NEWEST.has(param) ? toHex(head) : param)) })
        : undefined;
  }
}

const inContext = z.looseObject({ context: z.looseObject({ slot: z.number() }), value: z.unknown() });
const slotted = z.looseObject({ slot: z.number() });
/** The fields of responses that grow with the chain. */
const HEIGHTS = ['absoluteSlot', 'blockHeight', 'slotIndex', 'lastValidBlockHeight'] as const;
const heights = z.record(z.string(), z.unknown());
function lowered(blocks: number, numbers: unknown): unknown {
  if (typeof numbers === 'number') return Math.max(0, numbers - blocks);
  const known = heights.safeParse(numbers);
  if (!known.success) return numbers;
  const { data } = known;
  return {
    ...data,
    ...Object.fromEntries(
      HEIGHTS.flatMap((name) => (typeof data[name] === 'number' ? [[name, lowered(blocks, data[name])]] : [])),
    ),
  };
}

async function solanaBehind(blocks: number, { method, params }: RpcCall, ask: Ask): Promise<unknown> {
  if (method === 'getGenesisHash' || method === 'sendTransaction') return undefined;
  const head = z.number().parse(await ask({ method: 'getSlot', params: [{ commitment: 'confirmed' }] })) - blocks;
  const response = await ask({ method, params });
  if (response === undefined) return undefined;
  const isKnown = (one: unknown): boolean => one === null || slotted.parse(one).slot <= head;
  if (method === 'getSignaturesForAddress') return z.array(z.unknown()).parse(response).filter(isKnown);
  if (method === 'getTransaction') return isKnown(response) ? response : null;
  const whole = inContext.safeParse(response);
  if (!whole.success)
    return ['getSlot', 'getBlockHeight', 'getEpochInfo'].includes(method) ? lowered(blocks, response) : response;
  const { context, value } = whole.data;
  const earlier = { ...context, slot: Math.max(0, context.slot - blocks) };
  switch (method) {
    case 'getSignatureStatuses':
      return {
        context: earlier,
        value: z
          .array(z.unknown())
          .parse(value)
          .map((status) => (isKnown(status) ? status : null)),
      };
    case 'isBlockhashValid':
      // It does not know a blockhash after its head. Older ones matter to no test.
      return { context: earlier, value: false };
    case 'simulateTransaction':
      // The same for a simulation that verifies signatures and so keeps the blockhash.
      return JSON.stringify(params).includes('"sigVerify":true')
        ? { context: earlier, value: { err: 'BlockhashNotFound', accounts: null, logs: null } }
        : { context: earlier, value };
    default:
      return { context: earlier, value: lowered(blocks, value) };
  }
}
