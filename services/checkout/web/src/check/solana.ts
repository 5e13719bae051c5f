import {
  type Address,
  address,
  getAddressEncoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getProgramDerivedAddress,
  getTransactionDecoder,
  getTransactionEncoder,
} from '@solana/kit';
import { type Checked, type Difference, judged, refused } from './checked.ts';
import type { Terms } from './terms.ts';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const ASSOCIATED_TOKEN = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const SYSTEM = '11111111111111111111111111111111';
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

/** The most that the priority may cost: 0.01 SOL in lamports. A higher price is a mistake. */
const PRIORITY_MAX = 10_000_000n;
const MICRO = 1_000_000n;

/** The transaction that the wallet signs, as the wallet takes it. */
export interface Message {
  readonly isSponsored: boolean;
  readonly transaction: Uint8Array;
}

interface Instruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

interface Found {
  /** Who signs last: the payer. */
  readonly payer: string | undefined;
  /** Another account signs before the payer: for the fee alone, because no instruction names it. */
  readonly isSponsored: boolean;
  readonly instructions: readonly Instruction[];
  /** Whether an account may only be read. */
  readonly isReadOnly: (account: string) => boolean;
}

const isSameBytes = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from(a).every((byte, index) => byte === b[index]);

/**
 * Takes bytes apart; null unless they are exactly one unsigned version 0 transaction, whose accounts are all there and
 * all used, with one signer, or with a second one that pays the fee and is in no instruction: then its signature moves
 * nothing else. Written again it must be the same bytes: nothing that the reader overlooks.
 */
function read(bytes: Uint8Array): Found | null {
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    if (!isSameBytes(getTransactionEncoder().encode(transaction), bytes)) return null;
    if (Object.values(transaction.signatures).some((signature) => signature !== null)) return null;
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    if (!isSameBytes(getCompiledTransactionMessageEncoder().encode(message), transaction.messageBytes)) return null;
    const { numSignerAccounts: signers, numReadonlyNonSignerAccounts } = message.header;
    if (message.version !== 0 || signers < 1 || signers > 2) return null;
    if ((message.addressTableLookups ?? []).length > 0) return null;
    const accounts: readonly string[] = message.staticAccounts;
    const used = new Set<number>();
    const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => {
      for (const index of [programAddressIndex, ...accountIndices]) used.add(index);
      return {
        program: accounts[programAddressIndex] ?? '',
        accounts: accountIndices.map((index) => accounts[index] ?? ''),
        data: Uint8Array.from(data ?? []),
      };
    });
    const isSponsored = signers === 2;
    if (isSponsored && used.has(0)) return null;
    used.add(0);
    if (used.size !== accounts.length || Math.max(...used) >= accounts.length) return null;
    if (new Set(accounts).size !== accounts.length) return null;
    const readOnly = accounts.slice(accounts.length - numReadonlyNonSignerAccounts);
    const payer = accounts[signers - 1];
    return { payer, isSponsored, instructions, isReadOnly: (account) => readOnly.includes(account) };
  } catch {
    // Its errors are for programmers: for the payer it is not the transaction that was promised.
    return null;
  }
}

/** A wallet's own account for a token: the address is derived, so none can be given instead. */
async function tokenAccount(owner: string, mint: string, program: string): Promise<string> {
  const bytes = getAddressEncoder();
  const [account] = await getProgramDerivedAddress({
    programAddress: address(ASSOCIATED_TOKEN),
    seeds: [owner, program, mint].map((seed) => bytes.encode(seed as Address)),
  });
  return account;
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);
const isPart = (instruction: Instruction, program: string): boolean => instruction.program === program;

/**
 * Checks the unsigned transaction of a payment on Solana: a compute budget, perhaps the recipient's token account, the
 * memo, and the transfer as the last instruction. Whatever is more is refused; whoever pays the fee may do so.
 */
export async function checkSolana(bytes: Uint8Array, terms: Terms, payer: string): Promise<Checked<Message>> {
  const found = read(bytes);
  if (found === null) return refused('malformed');
  const { instructions, isReadOnly, isSponsored } = found;
  const transfer = instructions.at(-1);
  if (transfer?.data[0] !== 12 || transfer.data.length !== 10) return refused('more');
  const { program } = transfer;
  if (program !== TOKEN && program !== TOKEN_2022) return refused('more');
  const [source, destination] = await Promise.all([
    tokenAccount(payer, terms.tokenAddress, program),
    tokenAccount(terms.requestor, terms.tokenAddress, program),
  ]);
  const [from, mint, to, authority, reference] = transfer.accounts;
  const budget = instructions.filter((instruction) => isPart(instruction, COMPUTE_BUDGET));
  const creations = instructions.filter((instruction) => isPart(instruction, ASSOCIATED_TOKEN));
  const memos = instructions.filter((instruction) => isPart(instruction, MEMO));
  const creation = [payer, destination, terms.requestor, terms.tokenAddress, SYSTEM, program];
  const conditions: (readonly [Difference, boolean])[] = [
    ['payer', found.payer === payer && authority === payer && from === source],
    ['token', mint === terms.tokenAddress && transfer.data[9] === terms.decimals],
    ['recipient', to === destination],
    ['amount', viewOf(transfer.data).getBigUint64(1, true) === terms.amount],
    ['reference', reference === terms.reference && transfer.accounts.length === 5 && isReadOnly(terms.reference)],
    ['more', instructions.length === budget.length + creations.length + memos.length + 1],
    // Idempotent creation, with no other way to read its accounts.
    ['more', creations.length <= 1 && creations.every(({ data }) => data.length === 1 && data[0] === 1)],
    ['recipient', creations.every((one) => isEqual(one.accounts, creation))],
    ['more', memos.length === 1 && memos.every((one) => one.accounts.length === 0)],
    ['reference', memos.every(({ data }) => new TextDecoder().decode(data) === terms.reference)],
    ['fee', isModest(budget)],
  ];
  return judged(conditions, { isSponsored, transaction: bytes });
}

/** Whether the compute budget is one limit and one price, and what they cost at most is within reason. */
function isModest(budget: readonly Instruction[]): boolean {
  const limits = budget.filter(({ data }) => data[0] === 2 && data.length === 5);
  const prices = budget.filter(({ data }) => data[0] === 3 && data.length === 9);
  const [limit, price] = [limits[0], prices[0]];
  if (budget.length !== 2 || limit === undefined || price === undefined) return false;
  if (budget.some((one) => one.accounts.length > 0)) return false;
  const units = BigInt(viewOf(limit.data).getUint32(1, true));
  return (units * viewOf(price.data).getBigUint64(1, true)) / MICRO <= PRIORITY_MAX;
}
