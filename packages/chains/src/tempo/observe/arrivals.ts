import type { Address, Arrival, Reference } from '@pf/domain';
import { listedToken, type UnpaidArrival } from '../../deposits.ts';
import { isMint } from '../../evm/account.ts';
import type { Log } from '../../evm/calls.ts';
import type { Network } from '../../port.ts';
import { isVirtual } from '../address.ts';
import { FEE_MANAGER } from '../calls.ts';
import { type Claim, GUARD, type Move } from './landings.ts';

/** A memo that says nothing. */
const NO_MEMO = `0x${'00'.repeat(32)}`;

/** A transfer that pays no intent, as it was seen. */
export interface Sighting extends UnpaidArrival {
  /** Its memo's log, or its own where it has none: the same place as of a payment. */
  readonly log: Log;
  /** The virtual address that has passed it on. Whoever names that one, too, is told of it there. */
  readonly via: Address | null;
}

/** What logs tell of tokens, as far as they were read. */
interface Told {
  readonly moves: readonly Move[];
  readonly claims: readonly Claim[];
}

type LoggedTransfer = Move & { readonly reference: Reference | null };

/**
 * The transfers of our tokens that name no watched intent, by the logs of a search alone: no receipt is read for them.
 * The token logs a transfer with a memo twice, the second time right behind the first: that is one transfer. One to a
 * virtual address has arrived where its next Transfer does not give it to the guard (landings.ts). Gas moves without
 * logs but for the last one, to the fee manager, which is no wallet; what that pays out is no deposit either.
 * @param isNamed whether a memo names a watched intent, whose payment it is
 */
export function arrivalsOf(
  { moves, claims }: Told,
  network: Network,
  isNamed: (memo: Reference) => boolean,
): readonly Sighting[] {
  const ours = new Set<string>(network.tokens.map(({ address }) => address));
  const plain = moves.filter(({ token }) => ours.has(token));
  // What the guard claims has not arrived.
  const memos = claims.flatMap((one) => (one.from === null ? [] : [{ ...one, from: one.from }]));
  const moveAt = new Map(plain.map((move) => [placeOf(move.log), move]));
  const memoAt = new Map(memos.map((memo) => [placeOf(memo.log), memo]));
  const isKeptBack = ({ log, token, from, to, amount }: Move): boolean => {
    if (!isVirtual(to)) return false;
    // A mint logs its Mint in between.
    const forward = moveAt.get(placeOf(log, isMint(from) ? 2n : 1n));
    return forward !== undefined && isSame(forward, { log, token, from: to, to: GUARD, amount });
  };
  const transfers: readonly LoggedTransfer[] = [
    ...memos.filter(({ reference }) => !isNamed(reference)),
    ...plain
      .filter((move) => !isSame(move, memoAt.get(placeOf(move.log, 1n))))
      .map((move) => ({ ...move, reference: null })),
  ];
  return transfers
    .filter((one) => one.amount > 0n && one.from !== one.to && one.from !== FEE_MANAGER && !isKeptBack(one))
    .map((one) => sightingOf(one, network));
}

const placeOf = ({ blockHash, logIndex }: Log, after = 0n): string => `${blockHash} ${logIndex + after}`;

const isSame = (one: Move, other: Move | undefined): boolean =>
  one.log.transactionHash === other?.log.transactionHash &&
  one.token === other.token &&
  one.from === other.from &&
  one.to === other.to &&
  one.amount === other.amount;

function sightingOf({ log, token, from, to, amount, reference }: LoggedTransfer, network: Network): Sighting {
  const carried = reference === NO_MEMO ? null : reference;
  const via = isVirtual(from) ? from : null;
  return {
    log,
    via,
    reason: carried === null ? 'no_reference' : 'unknown_reference',
    arrival: {
      hash: log.transactionHash,
      index: log.logIndex.toString(),
      block: log.blockNumber,
      blockHash: log.blockHash,
      tokenAddress: token,
      token: listedToken(network, token),
      // Who has paid a virtual address is told by its own Transfer: what is paid back there would come again.
      from: via !== null || isMint(from) ? null : from,
      to,
      amount,
      reference: carried,
      at: log.blockTimestamp === undefined ? null : Number(log.blockTimestamp) * 1_000,
    },
  };
}

/** The same transfer in the same place has the same name: of one that was told otherwise it is another. */
export const nameOf = ({ hash, blockHash, index, tokenAddress, from, to, amount, reference }: Arrival): string =>
  [hash, blockHash, index, tokenAddress, from, to, amount, reference].join(' ');
