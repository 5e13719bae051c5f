import {
  type Address,
  credibleFee,
  type Credit,
  type NetworkFee,
  type Reference,
  type TokenAddress,
  type Transfer,
  worthOf,
} from '@pf/domain';
import { AbiCoder } from 'ethers/abi';
import { id } from 'ethers/hash';
import * as ReceivePolicyReceipt from 'ox/tempo/ReceivePolicyReceipt';
import type { Log, Receipt } from '../../evm/calls.ts';
import { checksummed } from '../../evm/checksummed.ts';
import type { Network } from '../../port.ts';
import { isToken, isVirtual } from '../address.ts';
import { FEE_MANAGER } from '../calls.ts';

export const TRANSFER = id('Transfer(address,address,uint256)');
/** Logged right after the Transfer of a transfer with a memo. */
export const TRANSFER_WITH_MEMO = id('TransferWithMemo(address,address,uint256,bytes32)');
/** A receive policy blocked a payment (TIP-1028): the transaction succeeds, and the guard holds the money. */
export const TRANSFER_BLOCKED = id('TransferBlocked(address,address,uint64,uint256,uint8,bytes)');
export const GUARD = '0xB10C000000000000000000000000000000000000' as Address;

/** What a transaction has paid with a memo. */
export interface Payment {
  /** As the chain logged it, but for its amount: that is what it is worth. */
  readonly transfer: Transfer;
  /** Base units: what the memo's log says was paid. */
  readonly said: bigint;
}

/** Null for a topic that is no address. Never throws. */
export const addressIn = (topic: string | undefined): Address | null =>
  topic?.length === 66 ? checksummed(`0x${topic.slice(26)}`) : null;
/** Null for data that is not one number. Never throws. */
const unitsIn = (data: string): bigint | null => (data.length === 66 ? BigInt(data) : null);

/** A log that moved a token, or says that it did. */
export interface Move {
  readonly log: Log;
  readonly token: TokenAddress;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
}

/** A Transfer log; null for any other. Never throws. */
export function moveIn(log: Log): Move | null {
  const [event, sender, recipient, more] = log.topics;
  if (event !== TRANSFER || more !== undefined || log.removed) return null;
  const [from, to, amount] = [addressIn(sender), addressIn(recipient), unitsIn(log.data)];
  if (from === null || to === null || amount === null) return null;
  return { log, token: log.address as string as TokenAddress, from, to, amount };
}

/** What a log says was paid with a memo. */
export interface Claim extends Omit<Move, 'from'> {
  readonly reference: Reference;
  /** Null where the guard says it: the Transfer to the guard has the account. */
  readonly from: Address | null;
}

/** A transfer with a memo of one of our tokens; null for other logs. */
function withMemo(log: Log, tokens: ReadonlySet<string>): Claim | null {
  const [event, sender, recipient, memo, more] = log.topics;
  if (event !== TRANSFER_WITH_MEMO || memo?.length !== 66 || more !== undefined) return null;
  if (log.removed || !tokens.has(log.address)) return null;
  const [from, to, amount] = [addressIn(sender), addressIn(recipient), unitsIn(log.data)];
  if (from === null || to === null || amount === null) return null;
  const token = log.address as string as TokenAddress;
  return { log, token, from, to, amount, reference: memo as Reference };
}

/** A payment with a memo of one of our tokens that the guard holds; null for other logs. */
function blocked(log: Log, tokens: ReadonlySet<string>): Claim | null {
  const [event, topic, , nonce] = log.topics;
  const token = addressIn(topic);
  if (event !== TRANSFER_BLOCKED || log.address !== GUARD || nonce === undefined || log.removed) return null;
  if (token === null || !tokens.has(token)) return null;
  try {
    const [amount, , witness] = AbiCoder.defaultAbiCoder().decode(
      ['uint256', 'uint8', 'bytes'],
      log.data,
    ) as unknown as [bigint, bigint, `0x${string}`];
    const reference = ReceivePolicyReceipt.decode(witness).memo as Reference;
    return { log, token: token as string as TokenAddress, from: null, to: GUARD, amount, reference };
  } catch {
    // An unknown layout: it does not tell which intent it was for.
    return null;
  }
}

/** What a log says was paid with a memo; null for other logs. Never throws. */
export function claimIn(log: Log, { tokens }: Network): Claim | null {
  const ours = new Set<string>(tokens.map(({ address }) => address));
  return withMemo(log, ours) ?? blocked(log, ours);
}

/** The log by which the fee manager takes the fee, which the chain writes last. */
const feeLogIn = ({ logs }: Receipt): Move | null => {
  const last = logs.at(-1);
  const move = last === undefined ? null : moveIn(last);
  return move?.to === FEE_MANAGER && isToken(move.log.address) ? move : null;
};

/**
 * What the transaction has cost, and whom: the fee manager takes it last, in the fee token, by a transfer that the
 * token logs. Null where it took nothing. Never throws.
 */
export function feeIn(receipt: Receipt): NetworkFee | null {
  const fee = feeLogIn(receipt);
  return fee === null ? null : credibleFee({ payer: fee.from, amount: fee.amount, tokenAddress: fee.token });
}

/**
 * The payments with a memo in a successful transaction, with what each is worth: together never more than the account
 * that got the money has gained in that token, by the token's own Transfer logs. Never throws.
 *
 * A memo proves nothing by itself. The token writes these logs in one go, so each belongs to its neighbors: the
 * Transfer right before a memo is the same transfer; to a virtual address (TIP-1022) the next Transfer of the token
 * forwards it to the master account, which holds the money; what a receive policy kept back (TIP-1028) has the Transfer
 * to the guard before it, and no memo. Each Transfer is the money of one payment.
 */
export function paymentsIn(receipt: Receipt, network: Network): readonly Payment[] {
  if (receipt.status !== 1n) return [];
  const moves = receipt.logs.map(moveIn);
  const claims = new Map<Move, Claim>();
  for (const [place, log] of receipt.logs.entries()) {
    const claim = claimIn(log, network);
    const money = claim === null ? null : moneyOf(claim, place, moves);
    if (claim !== null && money !== null && !claims.has(money)) claims.set(money, claim);
  }
  const worth = worthIn(
    moves.filter((move) => move !== null),
    claims,
    feeLogIn(receipt),
  );
  return [...claims].map(([money, claim]) => paymentOf(claim, money, worth.get(money) ?? 0n));
}

/** The Transfer that brought a payment's money to the account that holds it now; null where there is none. */
function moneyOf(claim: Claim, place: number, moves: readonly (Move | null)[]): Move | null {
  const isOf = (move: Move | null): move is Move => move?.token === claim.token && move.amount === claim.amount;
  // A mint logs its Mint in between.
  if (claim.from === null) {
    const before = moves[place - 1] ?? moves[place - 2] ?? null;
    return isOf(before) && before.to === GUARD ? before : null;
  }
  const same = moves[place - 1] ?? null;
  if (!isOf(same) || same.from !== claim.from || same.to !== claim.to) return null;
  if (same.log.logIndex + 1n !== claim.log.logIndex) return null;
  if (!isVirtual(claim.to)) return same;
  const next = moves[place + 1] ?? moves[place + 2] ?? null;
  return isOf(next) && next.from === claim.to && next.to !== GUARD ? next : null;
}

/** All that moved one token of one account. */
interface Account {
  readonly credits: (Credit & { readonly move: Move })[];
  debited: bigint;
}

/**
 * What each payment is worth, by the account that holds its money and its token: at most what came in less what went
 * out again. The fee does not count as going out: an account that pays the fees of its payers has got their payments
 * all the same, and no fee is taken from an account that has not signed for it.
 */
function worthIn(
  moves: readonly Move[],
  claims: ReadonlyMap<Move, Claim>,
  fee: Move | null,
): ReadonlyMap<Move, bigint> {
  const accounts = new Map<string, Account>();
  const accountOf = (token: string, holder: string): Account => {
    const name = `${token} ${holder}`;
    const account = accounts.get(name) ?? { credits: [], debited: 0n };
    accounts.set(name, account);
    return account;
  };
  for (const move of moves) {
    const { token, from, to, amount, log } = move;
    if (from === to) continue;
    accountOf(token, to).credits.push({ amount, isClaimed: claims.has(move), move });
    if (log !== fee?.log) accountOf(token, from).debited += amount;
  }
  const worth = new Map<Move, bigint>();
  for (const { credits, debited } of accounts.values()) {
    if (!credits.some(({ isClaimed }) => isClaimed)) continue;
    const gained = credits.reduce((sum, { amount }) => sum + amount, 0n) - debited;
    for (const [{ move }, units] of worthOf({ credits, debited, gained })) worth.set(move, units);
  }
  return worth;
}

const paymentOf = ({ log, token, from, to, amount, reference }: Claim, money: Move, worth: bigint): Payment => ({
  said: amount,
  transfer: {
    tokenAddress: token,
    // Whose money it was: also where a spender moved it whom that account has approved, so that it gets a refund.
    from: from ?? money.from,
    to,
    amount: worth,
    reference,
    block: log.blockNumber,
    blockHash: log.blockHash,
    index: log.logIndex.toString(),
  },
});
