import {
  credibleFee,
  type Address as WalletAddress,
  type Instant,
  type NetworkFee,
  type TransactionHash,
} from '@pf/domain';
import {
  APPROVE_CHECKED_DISCRIMINATOR,
  APPROVE_DISCRIMINATOR,
  CLOSE_ACCOUNT_DISCRIMINATOR,
  FREEZE_ACCOUNT_DISCRIMINATOR,
  INITIALIZE_ACCOUNT2_DISCRIMINATOR,
  INITIALIZE_ACCOUNT3_DISCRIMINATOR,
  INITIALIZE_ACCOUNT_DISCRIMINATOR,
  INITIALIZE_IMMUTABLE_OWNER_DISCRIMINATOR,
  REVOKE_DISCRIMINATOR,
  SET_AUTHORITY_DISCRIMINATOR,
  THAW_ACCOUNT_DISCRIMINATOR,
  TRANSFER_CHECKED_DISCRIMINATOR,
  TRANSFER_DISCRIMINATOR,
} from '@solana-program/token';
import { type Address, getBase58Encoder, getU64Decoder } from '@solana/kit';
import { z } from 'zod';
import type { Parsed } from '../../port.ts';
import { address, base64, transactionError, u64 } from '../calls.ts';
import { MEMO_PROGRAM_ADDRESS, TOKEN_PROGRAMS } from '../programs.ts';
import { reasonOf } from '../refusal.ts';
import { type DecodedSigned, decodeSigned, type Instruction, programsOf } from '../signed-transaction.ts';

/**
 * The texts and numbers that a transaction's JSON may have: more than twice those of the largest that can land, with 63
 * inner instructions of 10 KiB in base58.
 */
const SIZE_MAX = 2 * 1024 * 1024;
/** Longer base58 is not decoded: a transfer needs less, and decoding takes quadratic time of up to 10 KiB. */
const TRANSFER_TEXT_MAX = 64;

const U64_MAX = 2n ** 64n - 1n;
/** The last second that a timestamp can name. */
const SECONDS_MAX = 8_640_000_000_000;
const index = z.number().int().nonnegative();
const balance = z.object({
  accountIndex: index,
  mint: address,
  owner: address,
  /** Base units. */
  uiTokenAmount: z.object({
    amount: z
      .string()
      .regex(/^\d{1,20}$/)
      .transform(BigInt)
      .refine((units) => units <= U64_MAX),
  }),
});
const innerInstruction = z.object({ programIdIndex: index, accounts: z.array(index), data: z.string() });
/** A transaction in a block (`getTransaction` with the encoding base64), and what it did. */
const landedTransaction = z.object({
  slot: u64,
  /** Seconds since 1970. */
  blockTime: z.number().int().nonnegative().max(SECONDS_MAX).nullish().catch(null),
  transaction: base64,
  meta: z.object({
    err: transactionError,
    /** Lamports. */
    fee: u64.nullish().catch(null),
    innerInstructions: z.array(z.object({ index, instructions: z.array(innerInstruction) })).nullish(),
    loadedAddresses: z.object({ writable: z.array(address), readonly: z.array(address) }).nullish(),
    preTokenBalances: z.array(balance),
    postTokenBalances: z.array(balance),
  }),
});
type LandedTransaction = z.infer<typeof landedTransaction>;

/** What an account held, by its place among the transaction's accounts. */
export type Holdings = ReadonlyMap<number, Holding>;
export interface Holding {
  readonly mint: Address;
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
}

/** An executed transfer, as its instruction describes it: who wrote it need not have told the truth about intents. */
export interface TokenTransfer {
  /** The instruction's index: `4`, or `2.0` for one that another instruction called. */
  readonly index: string;
  /** Places of the token accounts. */
  readonly source: number;
  readonly destination: number;
  readonly authority: Address;
  /** Base units. What arrives may be less. */
  readonly amount: bigint;
  /** References, or the memo: what it may name an intent by, each once. */
  readonly names: readonly string[];
  /** Whether the owner of the money has signed for these names. */
  readonly isProven: boolean;
}

/** All that a transaction tells about payments. */
export interface Reading {
  readonly hash: TransactionHash;
  readonly slot: bigint;
  /** The time of its block; null where the node does not tell it. */
  readonly at: Instant | null;
  /** Why it failed, as text; null where it succeeded. */
  readonly failure: string | null;
  /** What it has cost its first signer: signatures and priority, without the rent of accounts. */
  readonly fee: NetworkFee | null;
  /** None of a transaction that failed. */
  readonly transfers: readonly TokenTransfer[];
  /** Places of the accounts whose tokens may have moved otherwise, in or out. */
  readonly opaque: ReadonlySet<number>;
  /** What the instructions that may have moved them name, and intents may be named by. */
  readonly opaqueNames: ReadonlySet<string>;
  readonly before: Holdings;
  readonly after: Holdings;
}

/**
 * Reads what a node shows of a transaction. The problem says why that cannot be judged: it is of an unknown form,
 * another transaction, too large, or does not agree with itself. Never throws, whatever the node shows.
 */
export function readTransaction(hash: TransactionHash, shown: unknown): Parsed<Reading> {
  try {
    if (isLargerThan(shown, SIZE_MAX)) return { ok: false, problem: `it has more than ${SIZE_MAX} characters` };
    const landed = landedTransaction.safeParse(shown);
    if (!landed.success) return { ok: false, problem: problemIn(landed.error) };
    const decoded = decodeSigned(landed.data.transaction);
    if (!decoded.ok) return { ok: false, problem: `it ${decoded.problem}` };
    if (decoded.value.hash !== hash) return { ok: false, problem: `it is another transaction, ${decoded.value.hash}` };
    return { ok: true, value: reading(landed.data, decoded.value) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'it cannot be read' };
  }
}

function problemIn({ issues: [issue] }: z.ZodError): string {
  return `its ${issue?.path.join('.') || 'JSON'} is not understood: ${issue?.message ?? 'unknown'}`.slice(0, 200);
}

/** True where the texts and items in a JSON value are more than so many. Looks at no more than that. */
function isLargerThan(value: unknown, most: number): boolean {
  const open: unknown[] = [value];
  let size = 0;
  while (open.length > 0 && size <= most) {
    const one = open.pop();
    size += typeof one === 'string' ? one.length : 1;
    if (typeof one !== 'object' || one === null) continue;
    const items = Object.values(one);
    if (size + items.length > most) return true;
    for (const item of items) open.push(item);
  }
  return size > most;
}

function reading(landed: LandedTransaction, decoded: DecodedSigned): Reading {
  const { meta, slot, blockTime } = landed;
  const accounts = [
    ...decoded.accounts,
    ...(meta.loadedAddresses?.writable ?? []),
    ...(meta.loadedAddresses?.readonly ?? []),
  ];
  const [payer] = accounts;
  return {
    hash: decoded.hash,
    slot,
    at: typeof blockTime === 'number' ? blockTime * 1_000 : null,
    failure: meta.err === null ? null : `the transaction failed on chain: ${reasonOf(meta.err, programsOf(decoded))}`,
    fee:
      payer === undefined || typeof meta.fee !== 'bigint'
        ? null
        : credibleFee({ payer: payer as string as WalletAddress, amount: meta.fee, tokenAddress: null }),
    ...(meta.err === null
      ? movesIn(landed, decoded, accounts)
      : { transfers: [], opaque: new Set<number>(), opaqueNames: new Set<string>() }),
    before: holdingsIn(meta.preTokenBalances, accounts.length),
    after: holdingsIn(meta.postTokenBalances, accounts.length),
  };
}

/** @throws Error where they do not agree with themselves */
function holdingsIn(balances: LandedTransaction['meta']['preTokenBalances'], accounts: number): Holdings {
  const holdings = new Map<number, Holding>();
  for (const { accountIndex, mint, owner, uiTokenAmount } of balances) {
    if (accountIndex >= accounts) throw new Error(`it has a balance of account ${accountIndex} of ${accounts}`);
    if (holdings.has(accountIndex)) throw new Error(`it has two balances of account ${accountIndex}`);
    holdings.set(accountIndex, { mint, owner, amount: uiTokenAmount.amount });
  }
  return holdings;
}

/** A transfer, with what is needed to judge its names. */
interface Executed extends Omit<TokenTransfer, 'names' | 'isProven'> {
  readonly references: readonly Address[];
  readonly isOuter: boolean;
  /** The authority is a signer of the transaction. */
  readonly isSigned: boolean;
}

/**
 * Only transfers of the token programs are decoded. Whatever else may move tokens (a batch of instructions, mint, burn,
 * what is not known here) makes the accounts that it names opaque: what has left one may have come back of another.
 */
function movesIn(
  { meta }: LandedTransaction,
  decoded: DecodedSigned,
  accounts: readonly Address[],
): Pick<Reading, 'transfers' | 'opaque' | 'opaqueNames'> {
  const opaque = new Set<number>();
  const addressAt = (place: number): Address => {
    const found = accounts[place];
    if (found === undefined) throw new Error(`an instruction names account ${place} of ${accounts.length}`);
    return found;
  };
  const isOfTokens = (program: number): boolean => TOKEN_PROGRAMS.has(addressAt(program));
  const executed = (instruction: Instruction, at: string, isOuter: boolean): Executed[] => {
    const named = transferIn(instruction);
    if (named === null) {
      if (!MOVES_NOTHING.has(instruction.data[0])) for (const place of instruction.accounts) opaque.add(place);
      return [];
    }
    const { source, destination, authority, others, amount } = named;
    return [
      {
        index: at,
        source,
        destination,
        authority: addressAt(authority),
        amount,
        // A call may name one account hundreds of times.
        references: [...new Set(others)].filter((place) => place >= decoded.signers).map(addressAt),
        isOuter,
        isSigned: authority < decoded.signers,
      },
    ];
  };
  const inner = new Map<number, readonly z.infer<typeof innerInstruction>[]>();
  for (const one of meta.innerInstructions ?? []) {
    if (one.index >= decoded.instructions.length)
      throw new Error(`it has no instruction ${one.index}, which called others`);
    if (inner.has(one.index)) throw new Error(`it has two lists of what instruction ${one.index} called`);
    inner.set(one.index, one.instructions);
  }
  const all = decoded.instructions.flatMap((outer, place) => [
    ...(isOfTokens(outer.program) ? executed(outer, `${place}`, true) : []),
    ...(inner.get(place) ?? []).flatMap(({ programIdIndex, accounts: places, data }, within) =>
      isOfTokens(programIdIndex)
        ? executed({ program: programIdIndex, accounts: places, data: bytesOf(data) }, `${place}.${within}`, false)
        : [],
    ),
  ]);
  const memo = all.length === 1 ? soleMemo(decoded) : null;
  const transfers = all.map(({ references, isOuter, isSigned, ...transfer }) => {
    const isByMemo = references.length === 0 && memo !== null;
    return {
      ...transfer,
      names: isByMemo ? [memo] : references,
      // An outer transfer without the signature of its authority is a multisig's, whose members have signed. An inner
      // one may be a program's payment of someone else's money, and whoever calls the program wrote the rest.
      isProven: isOuter || (isSigned && !isByMemo),
    };
  });
  const opaqueNames = new Set([...opaque].filter((place) => place >= decoded.signers).map(addressAt));
  return { transfers, opaque, opaqueNames };
}

/** None of long data: no instruction has no first byte, so it counts as one that is not known. */
const bytesOf = (text: string): Uint8Array =>
  text.length <= TRANSFER_TEXT_MAX ? Uint8Array.from(getBase58Encoder().encode(text)) : Uint8Array.of();

/**
 * The text of a transaction's only memo, which names the intent of its only transfer where that carries no reference:
 * MPP's clients pay so. Null where it would not be certain what the memo is for.
 */
function soleMemo({ accounts, instructions }: DecodedSigned): string | null {
  const [memo, ...others] = instructions.filter(({ program }) => accounts[program] === MEMO_PROGRAM_ADDRESS);
  return memo === undefined || others.length > 0 ? null : Buffer.from(memo.data).toString('utf8');
}

/** The forms of a transfer: its first bytes, the bytes it needs, where its amount is, and whether it names the mint. */
const FORMS = [
  { discriminators: [TRANSFER_CHECKED_DISCRIMINATOR], bytes: 10, amountAt: 1, isChecked: true },
  // Some wallets turn a Solana Pay code into this.
  { discriminators: [TRANSFER_DISCRIMINATOR], bytes: 9, amountAt: 1, isChecked: false },
  // Token-2022's TransferFeeExtension::TransferCheckedWithFee.
  { discriminators: [26, 1], bytes: 19, amountAt: 2, isChecked: true },
] as const;

/** Token-2022's Reallocate, MemoTransferExtension and CpiGuardExtension. */
const EXTENDING = [29, 30, 34] as const;
/**
 * The first bytes of instructions that name accounts of tokens and leave in them what they hold, or are for empty ones.
 * Those that name mints only are none of them: no money arrives in a mint.
 */
const MOVES_NOTHING: ReadonlySet<number | undefined> = new Set([
  INITIALIZE_ACCOUNT_DISCRIMINATOR,
  INITIALIZE_ACCOUNT2_DISCRIMINATOR,
  INITIALIZE_ACCOUNT3_DISCRIMINATOR,
  INITIALIZE_IMMUTABLE_OWNER_DISCRIMINATOR,
  APPROVE_DISCRIMINATOR,
  APPROVE_CHECKED_DISCRIMINATOR,
  REVOKE_DISCRIMINATOR,
  SET_AUTHORITY_DISCRIMINATOR,
  CLOSE_ACCOUNT_DISCRIMINATOR,
  FREEZE_ACCOUNT_DISCRIMINATOR,
  THAW_ACCOUNT_DISCRIMINATOR,
  ...EXTENDING,
]);

/** The places that a transfer names, and its amount; null for other instructions. Further bytes are ignored. */
function transferIn({ accounts, data }: Instruction): {
  readonly source: number;
  readonly destination: number;
  readonly authority: number;
  readonly others: readonly number[];
  readonly amount: bigint;
} | null {
  const form = FORMS.find(
    ({ discriminators, bytes }) => data.length >= bytes && discriminators.every((one, place) => data[place] === one),
  );
  if (form === undefined) return null;
  const [source, ...rest] = accounts;
  const [destination, authority, ...others] = form.isChecked ? rest.slice(1) : rest;
  if (source === undefined || destination === undefined || authority === undefined) return null;
  return { source, destination, authority, others, amount: getU64Decoder().decode(data, form.amountAt) };
}
