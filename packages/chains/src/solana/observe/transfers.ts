import type { Address as WalletAddress, Observation, Reference, TokenAddress } from '@pf/domain';
import { getTransferCheckedInstructionDataDecoder, TRANSFER_CHECKED_DISCRIMINATOR } from '@solana-program/token';
import { type Address, getBase58Encoder } from '@solana/kit';
import type { Network, WatchedIntent, WatchSet } from '../../port.ts';
import type { LandedTransaction } from '../calls.ts';
import { TOKEN_PROGRAMS } from '../programs.ts';
import { type DecodedTransaction, decodeSigned, type Instruction } from '../signed-transaction.ts';

const TRANSFER_CHECKED_BYTES = 10;
const TRANSFER_ACCOUNTS = 4;

/** A `transferChecked` that was executed, as the chain recorded it. */
interface ExecutedTransfer {
  readonly mint: Address;
  /** Who owned the account that was debited, and who the one that was credited. */
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  /** What the instruction names behind its own accounts, signers of a multisig left out. */
  readonly references: readonly Address[];
  /** The place of the instruction: `4`, or `2.0` for one that another called. */
  readonly index: string;
}

/** The transfers of a transaction that succeeded; none where it failed. */
function transfersOf({ meta }: LandedTransaction, decoded: DecodedTransaction): readonly ExecutedTransfer[] {
  if (meta === null || meta.err !== null) return [];
  const accounts = [...decoded.accounts, ...(meta.loadedAddresses?.writable ?? []), ...(meta.loadedAddresses?.readonly ?? [])];
  const ownersBefore = ownersIn(meta.preTokenBalances);
  const ownersAfter = ownersIn(meta.postTokenBalances);

  function read({ program, accounts: places, data }: Instruction, index: string): ExecutedTransfer[] {
    if (!TOKEN_PROGRAMS.has(accounts[program] ?? '') || data[0] !== TRANSFER_CHECKED_DISCRIMINATOR || data.length !== TRANSFER_CHECKED_BYTES) return [];
    const [source = -1, mintPlace = -1, destination = -1, authority = -1, ...others] = places;
    const mint = accounts[mintPlace];
    const from = ownersBefore.get(source) ?? ownersAfter.get(source) ?? accounts[authority];
    const to = ownersAfter.get(destination) ?? ownersBefore.get(destination);
    if (places.length < TRANSFER_ACCOUNTS || mint === undefined || from === undefined || to === undefined) return [];
    const references = others.filter((place) => place >= decoded.signers).flatMap((place) => accounts[place] ?? []);
    return [{ mint, from, to, amount: getTransferCheckedInstructionDataDecoder().decode(data).amount, references, index }];
  }

  const inner = new Map((meta.innerInstructions ?? []).map(({ index, instructions }) => [index, instructions]));
  return decoded.instructions.flatMap((outer, place) => [
    ...read(outer, `${place}`),
    ...(inner.get(place) ?? []).flatMap(({ programIdIndex, accounts: places, data }, within) =>
      read({ program: programIdIndex, accounts: places, data: Uint8Array.from(getBase58Encoder().encode(data)) }, `${place}.${within}`),
    ),
  ]);
}

type Balances = NonNullable<LandedTransaction['meta']>['preTokenBalances'];
const ownersIn = (balances: Balances): ReadonlyMap<number, Address> =>
  new Map((balances ?? []).flatMap(({ accountIndex, owner }): [number, Address][] => (owner === null || owner === undefined ? [] : [[accountIndex, owner]])));

type Landing = Extract<Observation, { type: 'landed' }>;

export interface Payments {
  readonly landings: readonly Landing[];
  readonly warnings: readonly string[];
}

/**
 * What a transaction on chain pays to watched intents, by their references. A transfer with several references pays
 * none of them: it would settle two intents with one amount. Null where the node's answer is not this transaction.
 */
export function paymentsIn(landed: LandedTransaction, hash: string, network: Network, watch: WatchSet): Payments | null {
  const decoded = decodeSigned(landed.transaction);
  if (!decoded.ok || decoded.value.hash !== hash) return null;
  const landings: Landing[] = [];
  const warnings: string[] = [];
  for (const { mint, from, to, amount, references, index } of transfersOf(landed, decoded.value)) {
    const intent = references.map((one) => watch.byReference(one as string as Reference)).find((one): one is WatchedIntent => one !== undefined);
    if (intent === undefined) continue;
    if (references.length > 1) {
      warnings.push(`transfer ${index} of ${hash} carries ${references.length} references, among them that of ${intent.id}: it counts for none`);
      continue;
    }
    if (!network.tokens.some(({ address }) => (address as string) === mint) || !watch.hasRecipient(to as string as WalletAddress)) continue;
    const transfer = { tokenAddress: mint as string as TokenAddress, from: from as string as WalletAddress, to: to as string as WalletAddress, amount, reference: intent.terms.reference, block: landed.slot, blockHash: null, index };
    landings.push({ kind: 'observation', type: 'landed', intentId: intent.id, data: { hash: decoded.value.hash, level: 'confirmed', transfer } });
  }
  return { landings, warnings };
}
