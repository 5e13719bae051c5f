import { formatAmount, type UnsignedTransaction } from '@pf/domain';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { type Address, isOffCurveAddress } from '@solana/kit';
import type { BuildRequest, BuildResult, PartOfPayment } from '../port.ts';
import { networkOf } from '../networks.ts';
import type { BlockPace } from '../block-pace.ts';
import type { NewestHead } from '../newest-head.ts';
import { isWorthSigning } from '../reusable.ts';
import {
  type AccountInfo,
  getBlockHeight,
  getFeeForMessage,
  getLatestBlockhash,
  getMinimumBalanceForRentExemption,
  getMultipleAccounts,
  getRecentPrioritizationFees,
  type LatestBlockhash,
  simulateTransaction,
} from './calls.ts';
import { feeOf, proposedPrice, UNITS } from './fees.ts';
import { accountsOf, compilePayment, type PaymentAccounts } from './payment.ts';
import { SYSTEM_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS } from './programs.ts';
import { reasonOf } from './refusal.ts';
import { isMintOrTokenAccount, type TokenAccount, tokenAccountIn } from './token-account.ts';

const SOL_DECIMALS = 9;
/** A token account without extensions; those of Token-2022 are larger. */
const TOKEN_ACCOUNT_BYTES = 165;
/** A node may be behind the newest slot that is known by this part of a blockhash's life. */
const LAG_PART = 10n;
/** A wallet's account has no data. It may be emptied, but not left with less than its rent. */
const WALLET_BYTES = 0;

const OFF_CURVE = 'is off the ed25519 curve: no key can sign for it';

const rejected = (reason: string): BuildResult => ({ kind: 'rejected', reason });
const notPayable = (param: PartOfPayment, reason: string): BuildResult => ({
  kind: 'not_payable',
  param,
  reason,
});

/** The newest slot and block height that are known, of any node. */
export interface Heads {
  readonly slots: NewestHead;
  readonly pace: BlockPace;
}

/**
 * How many blocks the newest blockhash of this node lives from now on.
 * @throws RpcBehindError for a node that is far behind: its blockhash dies early
 */
function lifeOf(node: RpcNode, height: bigint, { context, value }: LatestBlockhash, { slots, pace }: Heads): bigint {
  const life = value.lastValidBlockHeight - pace.saw(height);
  slots.requireReached(node, context.slot + life / LAG_PART);
  slots.saw(context.slot);
  return life;
}

/**
 * Whether the bytes of an earlier build are handed out again. Those of a sponsored one are for as long as they can
 * land: a sponsor may have them signed, and new ones could pay twice.
 * @param lastValid the height up to which they can land
 */
export async function isReusable(
  node: RpcNode,
  { estimatedFeeLamports }: UnsignedTransaction,
  lastValid: bigint,
  heads: Heads,
): Promise<boolean> {
  const [height, latest] = await node.batch([getBlockHeight('confirmed'), getLatestBlockhash('confirmed')]);
  const life = lifeOf(node, height, latest, heads);
  // By the newest height of any node: this one may be some blocks behind.
  const left = lastValid - heads.pace.saw(height);
  const isSponsored = estimatedFeeLamports === null;
  return isSponsored ? left >= 0n : isWorthSigning(left, life);
}

/**
 * Builds the unsigned version 0 transaction that pays these terms (docs/internals/chains.md), from the state of one
 * upstream in two round trips. The simulation tells what a new token account costs and what arrives in it.
 */
export async function buildPayment(
  node: RpcNode,
  { terms, fulfiller, feePayer: sponsor = null }: BuildRequest,
  heads: Heads,
): Promise<BuildResult> {
  const { slots } = heads;
  const accounts = await accountsOf(terms, fulfiller);
  const { payer, recipient, mint, source, destination, tokenProgram } = accounts;
  const feePayer = sponsor === null ? payer : (sponsor as string as Address);
  if (isOffCurveAddress(payer)) return notPayable('fulfiller', OFF_CURVE);
  if (isOffCurveAddress(feePayer)) return notPayable('feePayer', OFF_CURVE);
  const [found, latest, height, recent, tokenRent, walletRent] = await node.batch([
    getMultipleAccounts([payer, recipient, source, destination, mint, feePayer]),
    getLatestBlockhash('confirmed'),
    getBlockHeight('confirmed'),
    getRecentPrioritizationFees([feePayer, source, destination]),
    getMinimumBalanceForRentExemption(TOKEN_ACCOUNT_BYTES),
    getMinimumBalanceForRentExemption(WALLET_BYTES),
  ]);
  lifeOf(node, height, latest, heads);
  /** A node that is behind may not have the account or the money. */
  const refused = (result: BuildResult, slot = found.context.slot): BuildResult => {
    slots.requireReached(node, slot);
    return result;
  };
  const [
    payerInfo = null,
    recipientInfo = null,
    sourceInfo = null,
    destinationInfo = null,
    mintInfo = null,
    feePayerInfo = null,
  ] = found.value;
  const [held, credited] = [tokenAccountIn(sourceInfo), tokenAccountIn(destinationInfo)];
  if (mintInfo?.owner !== tokenProgram) return refused(rejected(`the token ${mint} does not exist on this network`));
  const unfit =
    whyNotPayer('fulfiller', payerInfo) ??
    whyNotPayer('feePayer', feePayerInfo) ??
    whyNotRecipient(recipientInfo, credited, accounts) ??
    whyNotHeld(held, terms, accounts);
  if (unfit !== null) return refused(unfit);

  const createsAccount = credited === null;
  const units = tokenProgram === TOKEN_2022_PROGRAM_ADDRESS ? UNITS.token2022 : UNITS.token;
  const unitLimit = createsAccount ? units.withAccount : units.transfer;
  const unitPrice = proposedPrice(recent);
  const { blockhash, lastValidBlockHeight } = latest.value;
  const compiled = compilePayment(terms, accounts, {
    feePayer,
    createsAccount,
    unitLimit,
    unitPrice,
    blockhash,
    lastValidBlockHeight,
  });
  const { raw, message, programs } = compiled;
  if (sponsor !== null && compiled.accounts.has(feePayer))
    return refused(notPayable('feePayer', 'takes part in the payment itself: it may only pay the fee'));

  // The account may already hold lamports: only the rest is paid.
  const there = destinationInfo?.lamports ?? 0n;
  const rentAtLeast = createsAccount && tokenRent > there ? tokenRent - there : 0n;
  const highestFee = feeOf(BigInt(unitLimit), unitPrice, 0, sponsor === null ? 1 : 2);
  const missing =
    sponsor === null
      ? describeSolShortage('payer', payerInfo, { fee: highestFee, rent: rentAtLeast, left: walletRent })
      : (describeSolShortage('payer', payerInfo, { fee: 0n, rent: rentAtLeast, left: walletRent }) ??
        describeSolShortage('fee payer', feePayerInfo, { fee: highestFee, rent: 0n, left: walletRent }));
  if (missing !== null) return refused(rejected(missing));

  const [simulated, fee] = await node.batch([
    simulateTransaction(raw, false, [destination]),
    getFeeForMessage(Buffer.from(message).toString('base64')),
  ]);
  const { err, accounts: after } = simulated.value;
  // No fault of the payer's: behind one URL another node may respond, which does not have our blockhash yet.
  if (err === 'BlockhashNotFound') throw new RpcUpstreamError(`${node.name} does not know its own blockhash`, 'no');
  const [destinationAfter = null] = after ?? [];
  if (err !== null)
    return refused(rejected(`the transfer would fail: ${reasonOf(err, programs)}`), simulated.context.slot);
  const arrives = (tokenAccountIn(destinationAfter)?.amount ?? 0n) - (credited?.amount ?? 0n);
  // Only Token-2022 tokens can withhold a part. More may seem to arrive, as others pay the requestor at the same time.
  if (tokenProgram === TOKEN_2022_PROGRAM_ADDRESS && arrives < terms.amount)
    return rejected(`the token would withhold a part: only ${arrives} of ${terms.amount} base units would arrive`);
  return {
    kind: 'built',
    transaction: {
      blob: Buffer.from(raw).toString('base64'),
      format: 'solana_v0_message',
      ataRentLamports: createsAccount ? Number((destinationAfter?.lamports ?? there) - there) : null,
      estimatedFeeLamports: sponsor === null ? Number(fee.value ?? highestFee) : null,
      estimatedFeeUsdc: null,
      estimatedFeeEth: null,
    },
    lifetime: { kind: 'block_height', lastValid: lastValidBlockHeight },
  };
}

/** Who pays is a plain account: no program's data, no nonce account. */
function whyNotPayer(param: PartOfPayment, payer: AccountInfo | null): BuildResult | null {
  if (payer === null || (payer.owner === SYSTEM_PROGRAM_ADDRESS && payer.data.length === 0)) return null;
  return notPayable(param, `is not a wallet: the account belongs to the program ${payer.owner} and cannot pay fees`);
}

/** A wallet, also a program's; but no account that holds tokens itself. */
function whyNotRecipient(
  recipient: AccountInfo | null,
  credited: TokenAccount | null,
  accounts: PaymentAccounts,
): BuildResult | null {
  if (recipient !== null && isMintOrTokenAccount(recipient))
    return notPayable('requestor', 'is a mint or a token account: use the address of the wallet that owns it');
  if (recipient?.executable === true) return notPayable('requestor', 'is a program');
  if (credited === null) return null;
  if (credited.owner !== accounts.recipient)
    return notPayable('requestor', 'no longer owns its associated token account for this token');
  return credited.frozen ? notPayable('requestor', 'has a frozen token account for this token') : null;
}

function whyNotHeld(
  held: TokenAccount | null,
  terms: BuildRequest['terms'],
  { payer }: PaymentAccounts,
): BuildResult | null {
  const amount = held?.owner === payer ? held.amount : 0n;
  if (amount < terms.amount) {
    const token = networkOf(terms.chain).tokens.find(({ address }) => address === terms.tokenAddress);
    const shown = (units: bigint): string =>
      token === undefined ? `${units} base units` : `${formatAmount(units, token.decimals)} ${token.symbol}`;
    return rejected(`the payer has ${shown(amount)} and needs ${shown(terms.amount)}`);
  }
  return held?.frozen === true ? rejected("the payer's token account is frozen") : null;
}

/**
 * What a payment takes of someone's lamports: the fee, the rent of the requestor's new account, and the minimum that
 * must be left, unless nothing is.
 */
interface Lamports {
  readonly fee: bigint;
  readonly rent: bigint;
  readonly left: bigint;
}

/** What someone has and needs, as text; null where it suffices. */
function describeSolShortage(
  who: 'payer' | 'fee payer',
  account: AccountInfo | null,
  { fee, rent, left }: Lamports,
): string | null {
  const has = account?.lamports ?? 0n;
  const spent = fee + rent;
  if (spent === 0n || has === spent || has >= spent + left) return null;
  const sol = (lamports: bigint): string => `${formatAmount(lamports, SOL_DECIMALS)} SOL`;
  const opened = rent > 0n ? `, ${sol(rent)} for the rent of the requestor's token account` : '';
  return (
    `the ${who} has ${sol(has)} and needs ${sol(spent + left)}: ` +
    `${sol(fee)} for the fee${opened}, and ${sol(left)} that must stay in the wallet`
  );
}
