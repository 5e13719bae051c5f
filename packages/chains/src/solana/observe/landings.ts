import {
  type Address as WalletAddress,
  credibleFee,
  type NetworkFee,
  type Observation,
  type Reference,
  type TokenAddress,
} from '@pf/domain';
import {
  getTransferCheckedInstructionDataDecoder,
  getTransferInstructionDataDecoder,
  TRANSFER_CHECKED_DISCRIMINATOR,
  TRANSFER_DISCRIMINATOR,
} from '@solana-program/token';
import { type Address, getBase58Encoder, getU64Decoder } from '@solana/kit';
import { least } from '../../bigints.ts';
import type { Network, WatchedIntent, WatchSet } from '../../port.ts';
import type { LandedTransaction } from '../calls.ts';
import { MEMO_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAMS } from '../programs.ts';
import { type DecodedTransaction, decodeSigned, type Instruction } from '../signed-transaction.ts';

const TRANSFER_BYTES = 9;
const TRANSFER_CHECKED_BYTES = 10;
/** Token-2022's TransferFeeExtension::TransferCheckedWithFee: two discriminators, amount, decimals, fee. */
const WITH_FEE = { discriminators: [26, 1], bytes: 19, amountAt: 2 } as const;

/** A transfer of tokens that was executed, as the chain recorded it. */
interface ExecutedTransfer {
  readonly mint: Address;
  /** The owners of the debited and of the credited account. */
  readonly from: Address;
  readonly to: Address;
  /** Base units that the recipient was credited. */
  readonly amount: bigint;
  /** The accounts after the instruction's own, without the signers of a multisig. */
  readonly references: readonly Address[];
  /** The instruction's index: `4`, or `2.0` for one that another instruction called. */
  readonly index: string;
}

/**
 * The text of a transaction's only memo, which names the intent of its only transfer where that carries no reference:
 * MPP's clients pay so. Null where it would not be certain what the memo is for.
 */
function soleMemo(
  { accounts, instructions }: DecodedTransaction,
  transfers: readonly ExecutedTransfer[],
): string | null {
  const memos = instructions.filter(({ program }) => accounts[program] === MEMO_PROGRAM_ADDRESS);
  const [memo] = memos;
  return memo !== undefined && memos.length === 1 && transfers.length === 1
    ? Buffer.from(memo.data).toString('utf8')
    : null;
}

/** A transfer before what the token withholds of it; with its accounts, as indices. */
interface SentTransfer extends ExecutedTransfer {
  readonly program: Address;
  readonly source: number;
  readonly destination: number;
}

/** The transfers of a successful transaction; none of a failed one. */
function transfersOf({ meta }: LandedTransaction, decoded: DecodedTransaction): readonly ExecutedTransfer[] {
  if (meta === null || meta.err !== null) return [];
  const accounts = [
    ...decoded.accounts,
    ...(meta.loadedAddresses?.writable ?? []),
    ...(meta.loadedAddresses?.readonly ?? []),
  ];
  const before = heldIn(meta.preTokenBalances);
  const after = heldIn(meta.postTokenBalances);

  function read({ program: place, accounts: places, data }: Instruction, index: string): SentTransfer[] {
    const program = accounts[place];
    if (program === undefined || !TOKEN_PROGRAMS.has(program)) return [];
    const named = transferIn(places, data);
    if (named === null) return [];
    const { source, destination, authority, amount } = named;
    const mint = named.mint === null ? (before.get(source) ?? after.get(source))?.mint : accounts[named.mint];
    const from = before.get(source)?.owner ?? after.get(source)?.owner ?? accounts[authority];
    const to = after.get(destination)?.owner ?? before.get(destination)?.owner;
    if (mint === undefined || from === undefined || to === undefined) return [];
    const references = named.others
      .filter((place) => place >= decoded.signers)
      .flatMap((place) => accounts[place] ?? []);
    return [{ program, source, destination, mint, from, to, amount, references, index }];
  }

  const inner = new Map((meta.innerInstructions ?? []).map(({ index, instructions }) => [index, instructions]));
  const sent = decoded.instructions.flatMap((outer, place) => [
    ...read(outer, `${place}`),
    ...(inner.get(place) ?? []).flatMap(({ programIdIndex, accounts: places, data }, within) =>
      read(
        { program: programIdIndex, accounts: places, data: Uint8Array.from(getBase58Encoder().encode(data)) },
        `${place}.${within}`,
      ),
    ),
  ]);
  const withheld = withheldOf(sent, before, after);
  return sent.map((one) => ({ ...one, amount: one.amount - (withheld.get(one) ?? 0n) }));
}

/**
 * What Token-2022 withheld of each transfer: an account is credited less than it was sent, and only
 * TransferCheckedWithFee names the fee. Where an account got several transfers, each bears its part.
 */
function withheldOf(
  sent: readonly SentTransfer[],
  before: Balances,
  after: Balances,
): ReadonlyMap<SentTransfer, bigint> {
  const withheld = new Map<SentTransfer, bigint>();
  const sum = (transfers: readonly SentTransfer[]): bigint => transfers.reduce((units, one) => units + one.amount, 0n);
  const taxable = sent.filter(({ program }) => program === TOKEN_2022_PROGRAM_ADDRESS);
  for (const [account, credits] of Map.groupBy(taxable, ({ destination }) => destination)) {
    const debits = taxable.filter(({ source }) => source === account);
    const credited = (after.get(account)?.amount ?? 0n) - (before.get(account)?.amount ?? 0n);
    let units = sum(credits);
    let missing = units - sum(debits) - credited;
    for (const one of credits) {
      if (missing <= 0n || units === 0n) break;
      const share = least((missing * one.amount) / units, one.amount);
      withheld.set(one, share);
      missing -= share;
      units -= one.amount;
    }
  }
  return withheld;
}

/** The accounts of a transfer, as indices. */
interface NamedTransfer {
  readonly source: number;
  /** Null where the instruction does not name it: the token accounts determine it. */
  readonly mint: number | null;
  readonly destination: number;
  readonly authority: number;
  readonly others: readonly number[];
  /** Base units. */
  readonly amount: bigint;
}

/** Null for other instructions, and for those that lack accounts. */
function transferIn(places: readonly number[], data: Uint8Array): NamedTransfer | null {
  const checked = checkedAmountIn(data);
  if (checked !== null) {
    const [source, mint, destination, authority, ...others] = places;
    if (source === undefined || mint === undefined || destination === undefined || authority === undefined) return null;
    return { source, mint, destination, authority, others, amount: checked };
  }
  // Some wallets turn a Solana Pay code into this. The chain's record of the accounts tells which token it moved.
  if (data[0] === TRANSFER_DISCRIMINATOR && data.length === TRANSFER_BYTES) {
    const [source, destination, authority, ...others] = places;
    if (source === undefined || destination === undefined || authority === undefined) return null;
    return {
      source,
      mint: null,
      destination,
      authority,
      others,
      amount: getTransferInstructionDataDecoder().decode(data).amount,
    };
  }
  return null;
}

/** What the instructions send that name the token, in base units; null of any other. */
function checkedAmountIn(data: Uint8Array): bigint | null {
  if (data[0] === TRANSFER_CHECKED_DISCRIMINATOR && data.length === TRANSFER_CHECKED_BYTES)
    return getTransferCheckedInstructionDataDecoder().decode(data).amount;
  if (WITH_FEE.discriminators.every((one, place) => data[place] === one) && data.length === WITH_FEE.bytes)
    return getU64Decoder().decode(data, WITH_FEE.amountAt);
  return null;
}

/** The token accounts of a transaction by index. */
type Balances = ReadonlyMap<
  number,
  { readonly mint: Address; readonly owner: Address | undefined; readonly amount: bigint }
>;
const heldIn = (balances: NonNullable<LandedTransaction['meta']>['preTokenBalances']): Balances =>
  new Map(
    (balances ?? []).map(({ accountIndex, mint, owner, uiTokenAmount: { amount } }) => [
      accountIndex,
      { mint, owner: owner ?? undefined, amount },
    ]),
  );

type Landing = Extract<Observation, { type: 'landed' }>;

export interface Payments {
  readonly landings: readonly Landing[];
  readonly warnings: readonly string[];
}

/** What the transfers of a transaction may name intents by. */
export function namesIn(landed: LandedTransaction): readonly string[] {
  const decoded = decodeSigned(landed.transaction);
  if (!decoded.ok) return [];
  const transfers = transfersOf(landed, decoded.value);
  return [
    ...transfers.flatMap(({ references }) => references as readonly string[]),
    soleMemo(decoded.value, transfers),
  ].filter((name) => name !== null);
}

/** What the transaction has cost its first signer: signatures and priority, without the rent of accounts. */
function feeOf({ meta }: LandedTransaction, { accounts: [payer] }: DecodedTransaction): NetworkFee | null {
  if (payer === undefined || typeof meta?.fee !== 'bigint') return null;
  return credibleFee({ payer: payer as string as WalletAddress, amount: meta.fee, tokenAddress: null });
}

/**
 * The payments to watched intents in a transaction, whose names were recalled, by their references, or by the memo.
 * A transfer with several references pays none of them: it would settle two intents with one amount. Null where the
 * node returned another transaction.
 */
export function landingsIn(
  landed: LandedTransaction,
  hash: string,
  network: Network,
  watch: WatchSet,
): Payments | null {
  const decoded = decodeSigned(landed.transaction);
  if (!decoded.ok || decoded.value.hash !== hash) return null;
  const landings: Landing[] = [];
  const warnings: string[] = [];
  const transfers = transfersOf(landed, decoded.value);
  const memo = soleMemo(decoded.value, transfers);
  const fee = feeOf(landed, decoded.value);
  for (const { mint, from, to, amount, references: carried, index } of transfers) {
    const references = carried.length > 0 || memo === null ? carried : [memo];
    const intent = references
      .map((one) => watch.byReference(one as Reference))
      .find((one): one is WatchedIntent => one !== undefined);
    if (intent === undefined) continue;
    if (references.length > 1) {
      warnings.push(
        `transfer ${index} of ${hash} carries ${references.length} references, ` +
          `among them that of ${intent.id}: it is ignored`,
      );
      continue;
    }
    if (
      !network.tokens.some(({ address }) => (address as string) === mint) ||
      !watch.hasRecipient(to as string as WalletAddress)
    )
      continue;
    const transfer = {
      tokenAddress: mint as string as TokenAddress,
      from: from as string as WalletAddress,
      to: to as string as WalletAddress,
      amount,
      reference: intent.terms.reference,
      block: landed.slot,
      blockHash: null,
      index,
    };
    landings.push({
      kind: 'observation',
      type: 'landed',
      intentId: intent.id,
      data: { hash: decoded.value.hash, level: 'confirmed', transfer, ...(fee && { fee }) },
    });
  }
  return { landings, warnings };
}
