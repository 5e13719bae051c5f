import type { Address, TransactionHash } from '@pf/domain';
import {
  boundedTo,
  listCall,
  refusable,
  reportingHead,
  type RpcCall,
  rpcCall,
  type RpcNode,
  RpcRefusedError,
} from '@pf/rpc';
import { z } from 'zod';
import type { Token } from '../networks.ts';
import { checksummed } from './checksummed.ts';

/** The calls to EVM nodes (names as in ethereum/execution-apis), each with the schema of its result. */

/** The longest response about transactions of strangers, alone or some together: what it has takes 20 MB of memory. */
export const STRANGERS_MAX_BYTES = 4 * 2 ** 20;

const QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const WORD = /^0x[0-9a-f]{64}$/i;
const HEX = /^0x[0-9a-f]*$/i;
/** Without a group: that would keep a place to return to for each byte, and fail on some megabytes. */
const isBytes = (text: string): boolean => text.length % 2 === 0 && HEX.test(text);

export const quantity = z.string().regex(QUANTITY).transform(BigInt);
export const bytes = z
  .string()
  .refine(isBytes)
  .transform((text) => text.toLowerCase());
export const hash = z
  .string()
  .regex(WORD)
  .transform((text) => text.toLowerCase() as TransactionHash);
const blockHash = z
  .string()
  .regex(WORD)
  .transform((text) => text.toLowerCase());
export const address = z.string().regex(ADDRESS).transform(checksummed);

export const toQuantity = (value: bigint): string => `0x${value.toString(16)}`;

export type BlockTag = bigint | 'latest' | 'pending' | 'safe' | 'finalized';
const at = (tag: BlockTag): string => (typeof tag === 'bigint' ? toQuantity(tag) : tag);

const block = z.object({
  number: quantity,
  hash: blockHash,
  parentHash: blockHash,
  timestamp: quantity,
  baseFeePerGas: quantity.default(0n),
});
export type Block = z.infer<typeof block>;

/** Null where the node has no such block (yet). */
export const getBlock = (tag: BlockTag): RpcCall<Block | null> =>
  rpcCall('eth_getBlockByNumber', [at(tag), false], block.nullable());
/** The newest block. */
export const getHead = (): RpcCall<Block | null> => reportingHead(getBlock('latest'), (head) => head?.number ?? null);
/** Its number only. */
export const getHeadNumber = (): RpcCall<bigint> =>
  reportingHead(rpcCall('eth_blockNumber', [], quantity), (head) => head);
export const getChainId = (): RpcCall<bigint> => rpcCall('eth_chainId', [], quantity);
export const getTransactionCount = (account: string, tag: BlockTag): RpcCall<bigint> =>
  rpcCall('eth_getTransactionCount', [account, at(tag)], quantity);
export const getBalance = (account: string): RpcCall<bigint> =>
  rpcCall('eth_getBalance', [account, 'latest'], quantity);
export const getCode = (account: string): RpcCall<string> => rpcCall('eth_getCode', [account, 'latest'], bytes);

/** The request of a call or an estimate. The node chooses absent quantities. */
export interface CallRequest {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly gas?: bigint;
  readonly accessList?: readonly { readonly address: string; readonly storageKeys: readonly string[] }[];
}
const requested = ({ gas, ...rest }: CallRequest): Record<string, unknown> => ({
  ...rest,
  value: '0x0',
  ...(gas === undefined ? {} : { gas: toQuantity(gas) }),
});

export const callContract = (request: CallRequest, tag: BlockTag = 'latest'): RpcCall<string> =>
  rpcCall('eth_call', [requested(request), at(tag)], bytes);
export const estimateGas = (request: CallRequest): RpcCall<bigint> =>
  rpcCall('eth_estimateGas', [requested(request)], quantity);

/** A call of a simulation: whoever it is from signs nothing and pays nothing. */
export interface SimulatedCall {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly gas: bigint;
}
const simulated = z.object({
  status: quantity,
  logs: z.array(z.object({ address, topics: z.array(blockHash), data: bytes })).default([]),
  error: z.object({ message: z.string() }).nullish(),
});
/** What a call of a simulation did: it has logged nothing where its status is 0. */
export type Simulated = z.infer<typeof simulated>;
/** What strangers have their contracts log and return: with the gas of a payment it is far less. */
const SIMULATED_MAX_BYTES = 6 * 2 ** 20;
/** Makes these calls one after the other on top of the newest block, and keeps nothing of them. */
export const simulateCalls = (calls: readonly SimulatedCall[]): RpcCall<readonly Simulated[]> =>
  boundedTo(
    SIMULATED_MAX_BYTES,
    rpcCall(
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls: calls.map(requested) }], validation: false, traceTransfers: false }, 'latest'],
      z.tuple([z.object({ calls: z.array(simulated).length(calls.length) })]).transform(([block]) => block.calls),
    ),
  );

const feeHistory = z.object({
  oldestBlock: quantity,
  baseFeePerGas: z.array(quantity).min(1),
  reward: z.array(z.array(quantity)).nullish(),
});
export type FeeHistory = z.infer<typeof feeHistory>;
/** Base fees of the newest blocks, from the oldest, and of the next one (last), and the median tip of each block. */
export const getFeeHistory = (blocks: number): RpcCall<FeeHistory> =>
  rpcCall('eth_feeHistory', [toQuantity(BigInt(blocks)), 'latest', [50]], feeHistory);

/** True when the node has it, pending or in a block. */
export const isKnown = (transactionHash: string): RpcCall<boolean> =>
  rpcCall(
    'eth_getTransactionByHash',
    [transactionHash],
    z
      .looseObject({ hash })
      .nullable()
      .transform((found) => found !== null),
  );

const accessList = z.array(z.object({ address, storageKeys: z.array(blockHash) }));
/** EIP-7702: an account that delegates to a contract's code. */
const authorization = z.object({
  chainId: quantity,
  address,
  nonce: quantity,
  yParity: quantity,
  r: quantity,
  s: quantity,
});
const transaction = z.object({
  hash,
  type: quantity.default(0n),
  chainId: quantity.nullish(),
  from: address,
  to: address.nullable(),
  nonce: quantity,
  gas: quantity,
  gasPrice: quantity.nullish(),
  maxFeePerGas: quantity.nullish(),
  maxPriorityFeePerGas: quantity.nullish(),
  value: quantity,
  input: bytes,
  accessList: accessList.nullish(),
  r: quantity.nullish(),
  s: quantity.nullish(),
  v: quantity.nullish(),
  yParity: quantity.nullish(),
  authorizationList: z.array(authorization).nullish(),
  blockHash: blockHash.nullish(),
});
export type ChainTransaction = z.infer<typeof transaction>;
const calling = transaction
  .pick({ hash: true, from: true, nonce: true, gas: true, input: true })
  .extend({ to: address.nullish().transform((to) => to ?? null) });
/** Who called what in a transaction, whatever its type: what a type that is unknown here adds is not looked at. */
export type CallingTransaction = z.infer<typeof calling>;
/** Null where the node knows no such transaction: no proof that there is none. */
export const getCalling = (transactionHash: string): RpcCall<CallingTransaction | null> =>
  boundedTo(STRANGERS_MAX_BYTES, rpcCall('eth_getTransactionByHash', [transactionHash], calling.nullable()));
/** Null where the node knows no such transaction: no proof that there is none. */
export const getTransaction = (transactionHash: string): RpcCall<ChainTransaction | null> =>
  boundedTo(STRANGERS_MAX_BYTES, rpcCall('eth_getTransactionByHash', [transactionHash], transaction.nullable()));

export interface Log {
  readonly address: Address;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly transactionHash: TransactionHash;
  readonly logIndex: bigint;
  readonly removed: boolean;
  /** Seconds since 1970. Absent where the node does not tell it. */
  readonly blockTimestamp?: bigint;
}

/** Which logs are read, by the contract's address in lower case and the first topic: the others are passed over. */
export type KeptLogs = (address: string, event: string | undefined) => boolean;
const ALL: KeptLogs = () => true;

function textIn(value: unknown, shape: Pick<RegExp, 'test'>): string {
  if (typeof value !== 'string' || !shape.test(value)) throw new Error('a field of a log has an unknown shape');
  return value;
}

/**
 * The one that was read before. Logs that follow one another are of one block, often of one transaction, event and
 * recipient: of equal texts only one is held.
 */
let lastRead: Log | null = null;
const held = <T extends string>(text: T, before: T | undefined): T => (text === before ? before : text);

/** There may be thousands in one response, so each is read by hand: schemas take ten times as long. */
function readLog(of: Readonly<Record<keyof Log, unknown>>, topics: readonly unknown[]): Log {
  const word = (value: unknown): string => textIn(value, WORD).toLowerCase();
  const { address, data, blockNumber, blockHash, transactionHash, logIndex, blockTimestamp, removed = false } = of;
  if (typeof removed !== 'boolean') throw new Error('it is not told whether a log was removed');
  const before = lastRead;
  const log: Log = {
    address: checksummed(textIn(address, ADDRESS)),
    topics: topics.map((topic, place) => held(word(topic), before?.topics[place])),
    data: textIn(data, { test: isBytes }).toLowerCase(),
    blockNumber: BigInt(textIn(blockNumber, QUANTITY)),
    blockHash: held(word(blockHash), before?.blockHash),
    transactionHash: held(word(transactionHash) as TransactionHash, before?.transactionHash),
    logIndex: BigInt(textIn(logIndex, QUANTITY)),
    removed,
    // For people only: what is wrong with it does not hold a payment up.
    ...(typeof blockTimestamp === 'string' &&
      QUANTITY.test(blockTimestamp) && { blockTimestamp: BigInt(blockTimestamp) }),
  };
  lastRead = log;
  return log;
}

/** A log, where it is kept. */
function keptLog(one: unknown, keeps: KeptLogs): readonly Log[] {
  const fields = (one ?? {}) as Readonly<Record<keyof Log, unknown>>;
  const { address, topics } = fields;
  if (typeof address !== 'string' || !Array.isArray(topics)) throw new Error('a log has no address or topics');
  const event: unknown = topics[0];
  const isKept = keeps(address.toLowerCase(), typeof event === 'string' ? event.toLowerCase() : undefined);
  return isKept ? [readLog(fields, topics)] : [];
}

/** One transaction can have 40,000 logs: only those that are kept are looked at closely. */
const logs = (keeps: KeptLogs): z.ZodType<readonly Log[]> =>
  z.array(z.unknown()).transform((all) => all.flatMap((one) => keptLog(one, keeps)));
export interface LogFilter {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly address: readonly string[];
  readonly topics: readonly (string | readonly string[] | null)[];
}
const anyLog = (log: unknown): readonly Log[] => keptLog(log, ALL);
/** Of one block all are read, whatever there are: element by element, up to LIST_MAX_BYTES of @pf/rpc. */
export const getLogs = (filter: LogFilter): RpcCall<readonly Log[]> =>
  listCall(
    'eth_getLogs',
    [{ ...filter, fromBlock: toQuantity(filter.fromBlock), toBlock: toQuantity(filter.toBlock) }],
    anyLog,
  );

const receipt = (keeps: KeptLogs) =>
  z.object({
    transactionHash: hash,
    status: quantity,
    blockNumber: quantity,
    blockHash,
    from: address,
    to: address.nullish(),
    logs: logs(keeps),
    // For the books only: what is wrong with them does not hold a payment up.
    gasUsed: quantity.nullish().catch(null),
    effectiveGasPrice: quantity.nullish().catch(null),
    /** Of rollups: what L1 charges for the data, beside the gas. */
    l1Fee: quantity.nullish().catch(null),
  });
export type Receipt = z.infer<ReturnType<typeof receipt>>;
/** What a transaction has logged, in its receipt or in its block. */
export type Logged = Pick<Receipt, 'transactionHash' | 'status' | 'blockHash' | 'logs'>;
/**
 * Null while the transaction is in no block that this node knows. Real ones stay far below the bound; one of 40,000
 * logs has some 18 MB.
 * @param keeps the logs that it is read for
 */
export const getReceipt = (transactionHash: string, keeps = ALL): RpcCall<Receipt | null> =>
  boundedTo(STRANGERS_MAX_BYTES, rpcCall('eth_getTransactionReceipt', [transactionHash], receipt(keeps).nullable()));

export const sendRawTransaction = (raw: string): RpcCall<TransactionHash> =>
  rpcCall('eth_sendRawTransaction', [raw], hash);

/** For RpcPool: why an upstream does not serve this CAIP-2 chain of the eip155 namespace; null where it does. */
export const identifyChain =
  (chain: string) =>
  async (node: RpcNode): Promise<string | null> => {
    const actual = await node.call(getChainId());
    return `eip155:${actual}` === chain ? null : `it serves eip155:${actual}, not ${chain}`;
  };

/** In whose name contracts are asked what anyone may ask. */
export const NO_ACCOUNT = `0x${'00'.repeat(20)}`;
/** `decimals()` of ERC-20. */
export const DECIMALS = '0x313ce567';
/** The decimals of tokens; null of one that the upstream does not have. */
export async function decimalsOfTokens(node: RpcNode, tokens: readonly Token[]): Promise<readonly (number | null)[]> {
  const answers = await node.batch(
    tokens.map(({ address }) => refusable(callContract({ from: NO_ACCOUNT, to: address, data: DECIMALS }))),
  );
  return answers.map((answer) => (answer instanceof RpcRefusedError || answer === '0x' ? null : Number(answer)));
}
