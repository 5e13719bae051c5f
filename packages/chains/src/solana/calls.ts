import type { TransactionHash } from '@pf/domain';
import {
  ifSupported,
  listCall,
  otherwise,
  refusable,
  reportingHead,
  type RpcCall,
  rpcCall,
  type RpcNode,
  RpcRefusedError,
} from '@pf/rpc';
import type { Address, Blockhash } from '@solana/kit';
import { z } from 'zod';
import type { Token } from '../networks.ts';
import { type Rules, UNTOLD_RULES } from '../rules.ts';
import { isAddressText, isSignatureText } from './address.ts';

/** The calls to Solana nodes (solana.com/docs/rpc), each with the schema of its result. */

export type Commitment = 'processed' | 'confirmed' | 'finalized';

export const u64 = z.number().int().nonnegative().transform(BigInt);
export const address: z.ZodType<Address> = z
  .string()
  .refine(isAddressText)
  .transform((text) => text as Address);
const signature: z.ZodType<TransactionHash> = z
  .string()
  .refine(isSignatureText)
  .transform((text) => text as TransactionHash);
const blockhash: z.ZodType<Blockhash> = z
  .string()
  .refine(isAddressText)
  .transform((text) => text as Blockhash);
export const base64 = z
  .tuple([z.string(), z.literal('base64')])
  .transform(([text]): Uint8Array => Buffer.from(text, 'base64'));
/** A result with the slot of the bank that it comes from. */
const inContext = <T>(value: z.ZodType<T>) => z.object({ context: z.object({ slot: u64 }), value });

/** A TransactionError as JSON: a name, or an object of one name: `{InstructionError: [3, {Custom: 1}]}`. */
export type TransactionError = string | Readonly<Record<string, unknown>>;
/** An error of another form fails a transaction all the same: it is quoted. Without the field nothing is known. */
export const transactionError = z
  .custom<unknown>((value) => value !== undefined)
  .transform((value): TransactionError | null => {
    const known = z.union([z.string(), z.record(z.string(), z.unknown())]).safeParse(value);
    return value === null ? null : known.success ? known.data : JSON.stringify(value);
  });

/**
 * A call about blocks of this level. The word `confirmed` is to be removed, as with Alpenglow a confirmed block is
 * final at once: a node that no longer has it is asked for what is final.
 */
function callAt<T>(
  commitment: Commitment,
  method: string,
  params: (commitment: Commitment) => readonly unknown[],
  schema: z.ZodType<T>,
): RpcCall<T> {
  const call = rpcCall(method, params(commitment), schema);
  return commitment === 'confirmed' ? otherwise(call, params('finalized')) : call;
}
const inConfig = (commitment: Commitment): readonly unknown[] => [{ commitment }];

const getGenesisHash = (): RpcCall<string> => rpcCall('getGenesisHash', [], blockhash);

const epochInfo = z.object({ absoluteSlot: u64, blockHeight: u64 });
export type EpochInfo = z.infer<typeof epochInfo>;
/** Slot and block height of the newest bank of that commitment. */
export const getEpochInfo = (commitment: Commitment): RpcCall<EpochInfo> =>
  callAt(commitment, 'getEpochInfo', inConfig, epochInfo);
/** The same of the newest confirmed one. */
export const getHead = (): RpcCall<EpochInfo> =>
  reportingHead(getEpochInfo('confirmed'), ({ absoluteSlot }) => absoluteSlot);
export const getBlockHeight = (commitment: Commitment): RpcCall<bigint> =>
  callAt(commitment, 'getBlockHeight', inConfig, u64);

const latestBlockhash = inContext(z.object({ blockhash, lastValidBlockHeight: u64 }));
export type LatestBlockhash = z.infer<typeof latestBlockhash>;
/** The newest blockhash, and the height up to which it lives: the chain's rule for how long that is may change. */
export const getLatestBlockhash = (commitment: Commitment): RpcCall<LatestBlockhash> =>
  callAt(commitment, 'getLatestBlockhash', inConfig, latestBlockhash);
const flag = inContext(z.boolean());
export const isBlockhashValid = (hash: Blockhash): RpcCall<z.infer<typeof flag>> =>
  rpcCall('isBlockhashValid', [hash, { commitment: 'processed' }], flag);

const account = z.object({ lamports: u64, owner: address, executable: z.boolean(), data: base64 });
export type AccountInfo = z.infer<typeof account>;
const accounts = inContext(z.array(account.nullable()));
/** At most 100 a call; null for an account that does not exist. */
export const ACCOUNTS_MAX = 100;
/** Anyone may name an account of 10 MiB. Of the largest that are looked into, mints, the most have below a kilobyte. */
const WHOLE = { offset: 0, length: 32 * 2 ** 10 };
/** @param dataSlice which of its bytes; default: the first 32 KiB */
export const getMultipleAccounts = (
  addresses: readonly Address[],
  dataSlice: { readonly offset: number; readonly length: number } = WHOLE,
): RpcCall<z.infer<typeof accounts>> =>
  callAt(
    'confirmed',
    'getMultipleAccounts',
    (commitment) => [addresses, { commitment, encoding: 'base64', dataSlice }],
    accounts,
  );

const fees = z.array(z.object({ slot: u64, prioritizationFee: u64 }));
/** µlamports per compute unit that sufficed in recent slots to lock these accounts. */
export const getRecentPrioritizationFees = (writable: readonly Address[]): RpcCall<z.infer<typeof fees>> =>
  rpcCall('getRecentPrioritizationFees', [writable], fees);
/** Lamports that an account of this size must hold. */
export const getMinimumBalanceForRentExemption = (bytes: number): RpcCall<bigint> =>
  rpcCall('getMinimumBalanceForRentExemption', [bytes], u64);
const fee = inContext(u64.nullable());
/** Lamports; null where the message's blockhash is not live. */
export const getFeeForMessage = (message: string): RpcCall<z.infer<typeof fee>> =>
  callAt('confirmed', 'getFeeForMessage', (commitment) => [message, { commitment }], fee);

const simulation = inContext(z.object({ err: transactionError, accounts: z.array(account.nullable()).nullish() }));
export type Simulation = z.infer<typeof simulation>;
/** The outcome of a transaction, and these accounts after it. */
export const simulateTransaction = (
  raw: Uint8Array,
  sigVerify: boolean,
  addresses: readonly Address[] = [],
): RpcCall<Simulation> =>
  rpcCall(
    'simulateTransaction',
    [
      Buffer.from(raw).toString('base64'),
      {
        encoding: 'base64',
        sigVerify,
        commitment: 'processed',
        ...(addresses.length === 0 ? {} : { accounts: { encoding: 'base64', addresses } }),
      },
    ],
    simulation,
  );

/** Without preflight, which would simulate again, and without the node's retries: the watcher broadcasts again. */
export const sendTransaction = (raw: Uint8Array): RpcCall<TransactionHash> =>
  rpcCall(
    'sendTransaction',
    [Buffer.from(raw).toString('base64'), { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
    signature,
  );

const status = z.object({
  slot: u64,
  err: transactionError,
  /** Null at old nodes. Another word than these says nothing: the slot does. */
  confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish().catch(null),
});
export type SignatureStatus = z.infer<typeof status>;
/** Stands for a status of another form: its transaction is somewhere, and nothing else is known. */
const UNKNOWN_STATUS: SignatureStatus = { slot: 0n, err: null, confirmationStatus: 'processed' };
const statuses = inContext(z.array(status.nullable().catch(UNKNOWN_STATUS)));
export const STATUSES_MAX = 256;
/** @param history also searches beyond the cache of recent slots */
export const getSignatureStatuses = (
  hashes: readonly TransactionHash[],
  history: boolean,
): RpcCall<z.infer<typeof statuses>> =>
  rpcCall('getSignatureStatuses', [hashes, { searchTransactionHistory: history }], statuses);

const signatureInfo = z.object({ signature, slot: u64, err: transactionError });
export type SignatureInfo = z.infer<typeof signatureInfo>;
/** The memos that strangers have written beside them are not kept. */
const readInfo = (one: unknown): readonly SignatureInfo[] => [signatureInfo.parse(one)];
export interface SignaturesRange {
  /** Those before this one, which is newer. */
  readonly before?: TransactionHash | undefined;
  /** Down to this one, without it. */
  readonly until?: TransactionHash | undefined;
  readonly limit: number;
  /** A node that has not come so far refuses: what it does not list proves nothing. */
  readonly atLeast: bigint;
}
/** Transactions that name this account, the newest first. */
export function getSignaturesForAddress(
  of: string,
  { before, until, limit, atLeast }: SignaturesRange,
): RpcCall<readonly SignatureInfo[]> {
  const params = (commitment: Commitment): readonly unknown[] => [
    of,
    {
      commitment,
      limit,
      minContextSlot: Number(atLeast),
      ...(before === undefined ? {} : { before }),
      ...(until === undefined ? {} : { until }),
    },
  ];
  return otherwise(listCall('getSignaturesForAddress', params('confirmed'), readInfo), params('finalized'));
}

const forTransaction =
  (hash: TransactionHash) =>
  (commitment: Commitment): readonly unknown[] => [
    hash,
    { encoding: 'base64', commitment, maxSupportedTransactionVersion: 1 },
  ];
/**
 * As the node shows it, of whatever form, so that one transaction never spoils the others of a batch: `readTransaction`
 * of observe/reading.ts judges each by itself. Null where the node knows no such transaction in a confirmed block: no
 * proof that there is none.
 */
export const getTransaction = (hash: TransactionHash): RpcCall<unknown> =>
  callAt('confirmed', 'getTransaction', forTransaction(hash), z.unknown());
/** The transaction alone, as it was sent. */
export const getTransactionBytes = (hash: TransactionHash): RpcCall<Uint8Array | null> =>
  callAt(
    'confirmed',
    'getTransaction',
    forTransaction(hash),
    z
      .object({ transaction: base64 })
      .nullable()
      .transform((shown) => shown?.transaction ?? null),
  );

/** The oldest slot of which this node still has the transactions, and when a slot was, in seconds since 1970. */
export const getFirstAvailableBlock = (): RpcCall<bigint> => rpcCall('getFirstAvailableBlock', [], u64);
export const getBlockTime = (slot: bigint): RpcCall<number | null> =>
  rpcCall('getBlockTime', [Number(slot)], z.number().nullable());

/** CAIP-2 identifies a Solana network by this many characters of its genesis hash. */
const REFERENCE_LENGTH = 32;

/** For RpcPool: why an upstream does not serve this CAIP-2 chain of the solana namespace; null where it does. */
export const identifyGenesis =
  (chain: string) =>
  async (node: RpcNode): Promise<string | null> => {
    const actual = `solana:${(await node.call(getGenesisHash())).slice(0, REFERENCE_LENGTH)}`;
    return actual === chain ? null : `it serves ${actual}, not ${chain}`;
  };

const genesisCertificate = z
  .unknown()
  .nullable()
  .transform((certificate): string => (certificate === null ? 'TowerBFT' : 'Alpenglow'));
/** Which consensus the network runs: with Alpenglow a confirmed block is final. Nodes before Agave 4.3 do not tell. */
export async function rulesOfSolana(node: RpcNode): Promise<Rules> {
  const consensus = await node.call(ifSupported(refusable(rpcCall('getAgGenesisCert', [], genesisCertificate))));
  return consensus instanceof RpcRefusedError ? UNTOLD_RULES : { name: consensus, unknown: [] };
}

/** Where a mint's decimals are in its account. */
const DECIMALS_AT = { offset: 44, length: 1 };
/** The decimals of mints; null of one that the upstream does not have. */
export async function decimalsOfMints(node: RpcNode, tokens: readonly Token[]): Promise<readonly (number | null)[]> {
  const mints = tokens.map((token) => token.address as string as Address);
  const { value } = await node.call(getMultipleAccounts(mints, DECIMALS_AT));
  return value.map((mint) => mint?.data[0] ?? null);
}
