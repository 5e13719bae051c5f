import type { Address as WalletAddress, Observation, Reference, TokenAddress } from '@pf/domain';
import type { Network, WatchedIntent, WatchSet } from '../../port.ts';
import { SYSTEM_PROGRAM_ADDRESS } from '../programs.ts';
import { gainOf, paidBy } from './paid.ts';
import type { Holding, Reading, TokenTransfer } from './reading.ts';

/** All zeros: money has arrived, and who owned it has not signed for which intent. */
const NO_REFERENCE = SYSTEM_PROGRAM_ADDRESS as string as Reference;

type Landing = Extract<Observation, { type: 'landed' }>;

/**
 * A payment in one text: two are the same where their texts are. Without `from`: older watchers named the owner of the
 * money, where another had signed for it.
 */
export const textOf = ({ intentId, data: { hash, transfer } }: PaymentOf): string => {
  const { index, block, tokenAddress, to, amount, reference } = transfer;
  return [intentId, hash, block, index, tokenAddress, to, amount, reference].join(' ');
};
type PaymentOf = Pick<Landing, 'intentId'> & { readonly data: Pick<Landing['data'], 'hash' | 'transfer'> };

export interface Payments {
  readonly landings: readonly Landing[];
  readonly warnings: readonly string[];
}

/** What a transaction may name intents by: no more than it has accounts, and the memo, however often it names each. */
export function namesIn({ transfers, opaqueNames }: Reading): ReadonlySet<string> {
  const names = new Set(opaqueNames);
  for (const transfer of transfers) for (const name of transfer.names) names.add(name);
  return names;
}

/** The intents that a transaction names, by those names: each is looked up once, in however many transfers it is. */
export function intentsIn(reading: Reading, watch: WatchSet): ReadonlyMap<string, WatchedIntent> {
  const intents = new Map<string, WatchedIntent>();
  for (const name of namesIn(reading)) {
    const intent = watch.byReference(name as Reference);
    if (intent !== undefined) intents.set(name, intent);
  }
  return intents;
}

/**
 * Why money that a watched recipient got for an intent cannot be judged: an instruction that is not known here names
 * its account, so that what is claimed may have left it, and what it gained be of another payer. Null where there is
 * none such.
 */
export function problemIn(reading: Reading, network: Network, watch: WatchSet): string | null {
  if (reading.opaque.size === 0) return null;
  const intents = intentsIn(reading, watch);
  for (const place of reading.opaque) {
    const [held, gained] = [reading.after.get(place), gainOf(reading, place)];
    if (held === undefined || gained <= 0n || !network.tokens.some(({ address }) => address === (held.mint as string)))
      continue;
    const intent = maybePaidAt(reading, place, held, intents);
    if (intent !== undefined)
      return (
        `${held.owner} gained ${gained} base units of ${held.mint} in it that may be for ${intent.id}, ` +
        'and an instruction of the token program that is not known here names the same account'
      );
  }
  return null;
}

/** The intent for which an opaque account's owner may have got what it gained, as its transaction names that intent. */
export function maybePaidAt(
  reading: Reading,
  place: number,
  { owner }: Holding,
  intents: ReadonlyMap<string, WatchedIntent>,
): WatchedIntent | undefined {
  if (!reading.opaque.has(place)) return undefined;
  const claimed = reading.transfers.filter(({ destination }) => destination === place);
  const names = namesIn({ ...reading, transfers: claimed });
  return [...intents].find(([name, { terms }]) => terms.requestor === (owner as string) && names.has(name))?.[1];
}

/** A transfer that names a watched intent, and nothing else. */
interface Claim {
  readonly intent: WatchedIntent;
  readonly transfer: TokenTransfer;
  readonly landing: Landing;
}

/**
 * The payments to watched intents in a transaction, whose names were recalled. What brought nothing is none, nor is
 * money that reached an account of another owner or token than those watched here.
 */
export function landingsIn(reading: Reading, network: Network, watch: WatchSet): Payments {
  const { claims, warnings } = paymentsIn(reading, network, watch);
  return { landings: claims.map(({ landing }) => landing), warnings };
}

/** The same with the transfers that make them. */
export function paymentsIn(reading: Reading, network: Network, watch: WatchSet): ReturnType<typeof claimsIn> {
  const { claims, warnings } = claimsIn(reading, watch);
  const paying = claims.filter(
    ({
      transfer,
      landing: {
        data: {
          transfer: { to, tokenAddress, amount },
        },
      },
    }) =>
      network.tokens.some(({ address }) => address === tokenAddress) &&
      watch.hasRecipient(to) &&
      (amount > 0n || transfer.amount === 0n),
  );
  return { claims: paying, warnings };
}

/**
 * Where the transfers for an intent have gone that did not pay it: to whoever owns the money now, in whatever token.
 * Null where no transfer names it, or its account is gone.
 */
export function strayIn(reading: Reading, { id }: Pick<WatchedIntent, 'id'>, watch: WatchSet): Landing | null {
  return claimsIn(reading, watch).claims.find(({ intent }) => intent.id === id)?.landing ?? null;
}

/**
 * The transfers that name one watched intent each, with what they are worth. A transfer with several names pays none of
 * them: it would settle two intents with one amount.
 */
function claimsIn(
  reading: Reading,
  watch: WatchSet,
): { readonly claims: readonly Claim[]; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const intents = intentsIn(reading, watch);
  const named = reading.transfers.flatMap((transfer) => {
    const name = transfer.names.find((one) => intents.has(one));
    const intent = name === undefined ? undefined : intents.get(name);
    if (intent === undefined) return [];
    if (transfer.names.length === 1) return [{ transfer, intent }];
    // One for a transaction: it may have dozens of such transfers.
    if (warnings.length > 0) return [];
    warnings.push(
      `transfer ${transfer.index} of ${reading.hash} carries ${transfer.names.length} references, ` +
        `among them that of ${intent.id}: it is ignored`,
    );
    return [];
  });
  // What is proven never takes of what is not: anyone may make a program pay, and add a claim of his own.
  const proven = paidBy(reading, new Set(named.flatMap(({ transfer }) => (transfer.isProven ? [transfer] : []))));
  const all = paidBy(reading, new Set(named.map(({ transfer }) => transfer)));
  const claims = named.flatMap(({ transfer, intent }): Claim[] => {
    const amount = (transfer.isProven ? proven : all).get(transfer);
    const credited = reading.after.get(transfer.destination);
    if (amount === undefined || credited === undefined) return [];
    const landing: Landing = {
      kind: 'observation',
      type: 'landed',
      intentId: intent.id,
      data: {
        hash: reading.hash,
        level: 'confirmed',
        transfer: {
          tokenAddress: credited.mint as string as TokenAddress,
          from: transfer.authority as string as WalletAddress,
          to: credited.owner as string as WalletAddress,
          amount,
          reference: transfer.isProven ? intent.terms.reference : NO_REFERENCE,
          block: reading.slot,
          blockHash: null,
          index: transfer.index,
        },
        ...(reading.fee && { fee: reading.fee }),
      },
    };
    return [{ intent, transfer, landing }];
  });
  return { claims, warnings };
}
