import type { Address as WalletAddress, PaymentTerms } from '@pf/domain';
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget';
import {
  CREATE_ASSOCIATED_TOKEN_IDEMPOTENT_DISCRIMINATOR,
  TRANSFER_CHECKED_DISCRIMINATOR,
  getTransferCheckedInstructionDataDecoder,
} from '@solana-program/token';
import type { Address } from '@solana/kit';
import type { RpcPool } from '@pf/rpc';
import { getLatestBlockhash } from './calls.ts';
import type { Differences, Network, SignedTransaction, Verification, WatchSet } from '../port.ts';
import { verifyLanded } from '../verify-landed.ts';
import { FEE_MAX, feeOf, SPONSORED_FEE_MAX } from './fees.ts';
import type { NewestHead } from '../newest-head.ts';
import { landability } from './landable.ts';
import { judgeAgain } from './observe/judge-again.ts';
import { accountsOf, decimalsOf, memoOf, type PaymentAccounts } from './payment.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  LIGHTHOUSE_PROGRAM_ADDRESS,
  MEMO_PROGRAM_ADDRESS,
  SYSTEM_PROGRAM_ADDRESS,
  TOKEN_PROGRAMS,
} from './programs.ts';
import { type DecodedTransaction, decodeSigned, isSignedBy } from './signed-transaction.ts';

/** Phantom adds two or three. */
const GUARDS_MAX = 4;
/**
 * Lighthouse's first two instructions write; the others only assert. Instructions that it may add later do not count as
 * guards.
 */
const ASSERTIONS = { first: 2, last: 17 } as const;
/** Of those, the ones of an account's lamports and owner: they call no other program, as those of Merkle trees do. */
const ACCOUNT_ASSERTIONS = { first: 4, last: 6 } as const;

const SET_UNIT_LIMIT = { discriminator: 2, bytes: 5 };
const SET_UNIT_PRICE = { discriminator: 3, bytes: 9 };
const TRANSFER_CHECKED_BYTES = 10;
/** Source, mint, destination, authority; the reference comes after them. */
const TRANSFER_ACCOUNTS = 4;
/** SystemInstruction::AdvanceNonceAccount: as the first instruction it makes the nonce the transaction's lifetime. */
const ADVANCE_NONCE = 4;

type Kind = 'guard' | 'limit' | 'price' | 'account' | 'memo' | 'transfer' | 'nonce' | 'other';

/** An instruction with its accounts by address. */
interface Named {
  readonly kind: Kind;
  readonly place: number;
  readonly program: string;
  readonly accounts: readonly string[];
  /** Places of the accounts in the message. */
  readonly places: readonly number[];
  readonly data: Uint8Array;
}

function kindOf(program: string, data: Uint8Array): Kind {
  const [first] = data;
  if (
    program === LIGHTHOUSE_PROGRAM_ADDRESS &&
    first !== undefined &&
    first >= ASSERTIONS.first &&
    first <= ASSERTIONS.last
  )
    return 'guard';
  if (
    program === COMPUTE_BUDGET_PROGRAM_ADDRESS &&
    first === SET_UNIT_LIMIT.discriminator &&
    data.length === SET_UNIT_LIMIT.bytes
  )
    return 'limit';
  if (
    program === COMPUTE_BUDGET_PROGRAM_ADDRESS &&
    first === SET_UNIT_PRICE.discriminator &&
    data.length === SET_UNIT_PRICE.bytes
  )
    return 'price';
  if (
    program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS &&
    first === CREATE_ASSOCIATED_TOKEN_IDEMPOTENT_DISCRIMINATOR &&
    data.length === 1
  )
    return 'account';
  if (program === MEMO_PROGRAM_ADDRESS) return 'memo';
  if (TOKEN_PROGRAMS.has(program) && first === TRANSFER_CHECKED_DISCRIMINATOR && data.length === TRANSFER_CHECKED_BYTES)
    return 'transfer';
  if (program === SYSTEM_PROGRAM_ADDRESS && first === ADVANCE_NONCE) return 'nonce';
  return 'other';
}

/** An account's address; of one that a lookup table adds, only the index is known. */
const nameOf = ({ accounts }: DecodedTransaction, place: number): string =>
  accounts[place] ?? `account ${place} of a lookup table`;

function named(transaction: DecodedTransaction): readonly Named[] {
  return transaction.instructions.map(({ program, accounts, data }, place) => {
    const name = nameOf(transaction, program);
    return {
      kind: kindOf(name, data),
      place,
      program: name,
      accounts: accounts.map((account) => nameOf(transaction, account)),
      places: accounts,
      data,
    };
  });
}

type Compare = (name: string, expected: string | null, actual: string | null) => void;

/**
 * Compares by meaning: the signers, and what the instructions do. Guards, compute budget and blockhash are the wallet's
 * choice, within bounds, and any account may sponsor the fee. Makes no request. Empty when the transaction pays exactly
 * these terms and does nothing else.
 * @param sponsorSigns whether a sponsor has to have signed, or signs later
 */
export async function differences(
  transaction: DecodedTransaction,
  terms: PaymentTerms,
  fulfiller: WalletAddress,
  sponsorSigns: 'before' | 'later' = 'before',
): Promise<Differences> {
  const differs: Record<string, { expected: string | null; actual: string | null }> = {};
  const compare: Compare = (name, expected, actual) => {
    if (expected !== actual) differs[name] ??= { expected, actual };
  };
  const expected = await accountsOf(terms, fulfiller);
  compare('version', '0', String(transaction.version));
  compare('tables', 'none', transaction.tables.join(', ') || 'none');
  const instructions = named(transaction);
  const sponsor = sponsorOf(transaction, fulfiller);
  const [sender = null] = sponsor === null ? transaction.accounts : transaction.accounts.slice(1);
  compare('sender', fulfiller, sender);
  compare('signers', sponsor === null ? '1' : '2', String(transaction.signers));
  if (sender !== null && !(await isSignedBy(transaction, sender)))
    compare('signature', "the sender's, of this message", 'another');
  if (sponsor !== null) {
    if (sponsorSigns === 'before' && !(await isSignedBy(transaction, sponsor)))
      compare('feePayer', 'a valid signature', null);
    compareSponsor(sponsor, instructions, compare);
  }
  const of = (kind: Kind): readonly Named[] => instructions.filter((one) => one.kind === kind);
  const [nonce] = of('nonce');
  compare('nonce', null, nonce === undefined ? null : (nonce.accounts[0] ?? 'none named'));
  if (of('guard').length > GUARDS_MAX) compare('guards', `at most ${GUARDS_MAX}`, String(of('guard').length));
  const feeMax = sponsorSigns === 'later' ? SPONSORED_FEE_MAX : FEE_MAX;
  compareBudget(of('limit'), of('price'), transaction, feeMax, compare);
  compare(
    'instructions',
    'only the payment',
    of('other')
      .map(({ program, data }) => `${program} ${hex(data)}`)
      .join(', ') || 'only the payment',
  );
  compareAccountCreation(of('account'), expected, compare);
  compareMemo(of('memo'), terms, compare);
  compareTransfer(transaction, of('transfer'), terms, expected, compare);
  const byMemo = of('transfer').every(({ accounts }) => accounts.length <= TRANSFER_ACCOUNTS);

  const order = instructions
    .map(({ kind }) => kind)
    .filter((kind) => kind === 'account' || kind === 'memo' || kind === 'transfer')
    .join(', ');
  compare(
    'order',
    [
      ...of('account').map(() => 'account'),
      ...(byMemo && order.endsWith('memo')
        ? ['transfer', 'memo']
        : [...of('memo').map(() => 'memo'), ...of('transfer').map(() => 'transfer')]),
    ].join(', '),
    order,
  );
  compare('accounts', 'no unused accounts', unused(transaction).join(', ') || 'no unused accounts');
  return differs;
}

/** The account that pays the fee in the fulfiller's place; null where the fulfiller pays it. */
function sponsorOf({ accounts: [first, second] }: DecodedTransaction, fulfiller: WalletAddress): Address | null {
  const payer = fulfiller as string as Address;
  return first !== undefined && first !== payer && second === payer ? first : null;
}

/**
 * A sponsor signs for the fee and for nothing else: in an instruction, its signature could move what is its own. Nor
 * does it pay for a token account, which the requestor could close to keep the rent. Phantom's guards assert its
 * balance, which moves nothing.
 */
function compareSponsor(sponsor: Address, instructions: readonly Named[], compare: Compare): void {
  const uses = instructions.filter(
    (one) => (one.program === sponsor || one.accounts.includes(sponsor)) && !isAccountGuard(one),
  );
  compare('feePayer', 'in no instruction', uses.map(({ kind }) => kind).join(', ') || 'in no instruction');
}

const isAccountGuard = ({ kind, data: [first = 0] }: Named): boolean =>
  kind === 'guard' && first >= ACCOUNT_ASSERTIONS.first && first <= ACCOUNT_ASSERTIONS.last;

/** Enough to recognize the instruction. */
const hex = (data: Uint8Array): string => Buffer.from(data.subarray(0, 32)).toString('hex');

function compareBudget(
  limits: readonly Named[],
  prices: readonly Named[],
  { instructions, signers }: DecodedTransaction,
  feeMax: bigint,
  compare: Compare,
): void {
  if (limits.length > 1 || prices.length > 1)
    compare('budget', 'at most one unit limit and one unit price', `${limits.length} and ${prices.length}`);
  const touched = [...limits, ...prices].flatMap(({ accounts }) => accounts);
  if (touched.length > 0) compare('budget', 'no accounts', touched.join(', '));
  const [limit] = limits.map(({ data }) => BigInt(getSetComputeUnitLimitInstructionDataDecoder().decode(data).units));
  const [price] = prices.map(({ data }) => getSetComputeUnitPriceInstructionDataDecoder().decode(data).microLamports);
  const fee = feeOf(limit ?? null, price ?? 0n, instructions.length, signers);
  if (fee > feeMax) compare('fee', `at most ${feeMax} lamports`, `${fee} lamports`);
}

function compareAccountCreation(
  creations: readonly Named[],
  { payer, destination, recipient, mint, tokenProgram }: PaymentAccounts,
  compare: Compare,
): void {
  const exact = [payer, destination, recipient, mint, SYSTEM_PROGRAM_ADDRESS, tokenProgram].join(', ');
  if (creations.length > 1) compare('token_account', 'created at most once', `created ${creations.length} times`);
  for (const { accounts } of creations) compare('token_account', exact, accounts.join(', '));
}

function compareMemo(memos: readonly Named[], terms: PaymentTerms, compare: Compare): void {
  compare('memo', memoOf(terms), memos.map(({ data }) => Buffer.from(data).toString('utf8')).join(', ') || null);
  const signed = memos.flatMap(({ accounts }) => accounts);
  if (signed.length > 0) compare('memo', 'no accounts', signed.join(', '));
}

function compareTransfer(
  transaction: DecodedTransaction,
  transfers: readonly Named[],
  terms: PaymentTerms,
  expected: PaymentAccounts,
  compare: Compare,
): void {
  const [transfer] = transfers;
  compare('transfers', '1', String(transfers.length));
  if (transfer === undefined) return;
  const [source = null, mint = null, destination = null, authority = null] = transfer.accounts;
  const { amount, decimals } = getTransferCheckedInstructionDataDecoder().decode(transfer.data);
  compare('token', expected.mint, mint);
  compare('program', expected.tokenProgram, transfer.program);
  compare('source', expected.source, source);
  compare('recipient', expected.destination, destination);
  compare('authority', expected.payer, authority);
  compare('amount', terms.amount.toString(), amount.toString());
  compare('decimals', decimalsOf(terms).toString(), decimals.toString());
  const references = transfer.places.slice(TRANSFER_ACCOUNTS);
  // Without accounts after its own, the memo alone names the intent: it is compared by itself.
  if (references.length > 0)
    compare('reference', terms.reference, references.map((place) => nameOf(transaction, place)).join(', '));
  if (references.some((place) => transaction.isWritable(place)))
    compare('reference', `${terms.reference}, read-only`, `${terms.reference}, writable`);
}

/** Accounts in the message that no instruction uses: they would tie the transaction to something else. */
function unused({ accounts, instructions }: DecodedTransaction): readonly Address[] {
  const used = new Set(instructions.flatMap(({ program, accounts: places }) => [program, ...places]));
  return accounts.filter((_account, place) => place > 0 && !used.has(place));
}

/**
 * Checks a signed transaction against the terms and, unless it was `sent` already, whether it can land. One that was
 * sent and is not as we build it is judged by what it has paid: wallets send other versions and further instructions.
 */
export async function verifyPayment(
  pool: RpcPool,
  network: Network,
  signed: SignedTransaction,
  terms: PaymentTerms,
  fulfiller: WalletAddress,
  sent: boolean,
  slots: NewestHead,
): Promise<Verification> {
  const { hash } = signed;
  const lifetimeNow = async () => (await pool.call(getLatestBlockhash('processed'))).value.lastValidBlockHeight;
  const other = async (differs: Differences): Promise<Verification> => {
    if (!sent) return { kind: 'mismatch', differs };
    const lifetime = { kind: 'block_height', lastValid: await lifetimeNow() } as const;
    const judge = (watch: WatchSet) => pool.run((node) => judgeAgain(pool, node, network, watch, hash));
    return verifyLanded({ hash, terms, lifetime, judge, alias: null, differs }, fulfiller);
  };
  const decoded = decodeSigned(signed.raw);
  if (!decoded.ok)
    return other({ transaction: { expected: 'a Solana transaction of version 0', actual: decoded.problem } });
  const differs = await differences(decoded.value, terms, fulfiller);
  if (Object.keys(differs).length > 0) return other(differs);
  const { lastValid, reason } = sent
    ? { lastValid: await lifetimeNow(), reason: null }
    : await landability(pool, signed, decoded.value, await accountsOf(terms, fulfiller), slots);
  if (reason !== null) return { kind: 'rejected', reason };
  return {
    kind: 'verified',
    transaction: {
      hash: signed.hash,
      sender: fulfiller,
      nonce: null,
      lifetime: { kind: 'block_height', lastValid },
      terms,
    },
  };
}
