import { z } from 'zod';
import { type Answer, answering, type Behavior, type Call } from './exchange.ts';

const ZERO_HASH = `0x${'0'.repeat(64)}`;
/** Transactions that are remembered because they are never sealed. */
const UNSEALED_MAX = 100;

const sent = z.object({
  hash: z.string(),
  from: z.string(),
  to: z.string().nullable(),
  type: z.string().default('0x2'),
  gas: z.string(),
  gasPrice: z.string().default('0x0'),
  blockNumber: z.string().nullable(),
});
type Sent = z.infer<typeof sent>;
const height = z.string().transform(BigInt);

/**
 * A node that sees Flashblocks, as Base had them until Denim, or other promises of a block: it has a receipt of a
 * transaction before its block is sealed, with status 0x1 and a zero block hash.
 * @param neverSealed the share of transactions, at random, whose block is sealed without them
 */
export const flashblocks = (neverSealed: number): Behavior =>
  answering(({ ask, random }) => {
    const unsealed = new Map<string, { readonly transaction: Sent; readonly block: bigint }>();
    const openBlock = async (): Promise<bigint> =>
      height.parse(await ask({ method: 'eth_blockNumber', params: [] })) + 1n;
    const pending = async (hash: unknown): Promise<Sent | null> => {
      const { data } = sent.safeParse(await ask({ method: 'eth_getTransactionByHash', params: [hash] }));
      return data?.blockNumber === null ? data : null;
    };

    async function send(call: Call): Promise<Answer | null> {
      if (random() >= neverSealed) return null;
      const { data: hash } = z.string().safeParse(await ask(call));
      // What the node refuses, it refuses by itself.
      if (hash === undefined) return null;
      const transaction = await pending(hash);
      if (transaction === null) return { result: hash };
      const block = await openBlock();
      // anvil can be told to forget a transaction.
      await ask({ method: 'anvil_dropTransaction', params: [hash] });
      for (const old of [...unsealed.keys()].slice(0, unsealed.size + 1 - UNSEALED_MAX)) unsealed.delete(old);
      unsealed.set(hash, { transaction, block });
      return { result: hash };
    }

    return async (call) => {
      const { method, params } = call;
      if (method === 'eth_sendRawTransaction') return send(call);
      const isReceipt = method === 'eth_getTransactionReceipt';
      if (!isReceipt && method !== 'eth_getTransactionByHash') return null;
      const one = unsealed.get(String(params[0]));
      if (one !== undefined) {
        if ((await openBlock()) > one.block) return { result: null };
        return { result: isReceipt ? receiptOf(one.transaction, one.block) : one.transaction };
      }
      const waiting = isReceipt ? await pending(params[0]) : null;
      return waiting === null ? null : { result: receiptOf(waiting, await openBlock()) };
    };
  });

const receiptOf = ({ hash: transactionHash, from, to, type, gas, gasPrice }: Sent, block: bigint): object => ({
  transactionHash,
  from,
  to,
  type,
  status: '0x1',
  blockHash: ZERO_HASH,
  blockNumber: `0x${block.toString(16)}`,
  transactionIndex: '0x0',
  contractAddress: null,
  gasUsed: gas,
  cumulativeGasUsed: gas,
  effectiveGasPrice: gasPrice,
  logs: [],
  logsBloom: `0x${'0'.repeat(512)}`,
});
