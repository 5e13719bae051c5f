import type { Address } from 'ox/Address';
import { fromBytes, type Hex } from 'ox/Hex';
import { deserialize as readEip1559, serialize as writeEip1559 } from 'ox/TxEnvelopeEip1559';
import {
  deserialize as readTempo,
  serialize as writeTempo,
  type TxEnvelopeTempo as TempoEnvelope,
} from 'ox/tempo/TxEnvelopeTempo';
import { type Checked, type Difference, judged, refused } from './checked.ts';
import type { Terms } from './terms.ts';

/** The one call of a payment. The wallet that sends it chooses nonce, gas and fees. */
export interface Call {
  readonly isSponsored: boolean;
  readonly chainId: number;
  readonly to: Address;
  readonly data: Hex;
}
/** Tempo's, as it was built: for a wallet that signs it as it is. */
export interface TempoCall extends Call {
  readonly envelope: TempoEnvelope;
}

/** ERC-20 `transfer(address,uint256)`, on Base, with the reference behind the arguments. */
const TRANSFER = 'a9059cbb';
/** TIP-20 `transferWithMemo(address,uint256,bytes32)`. */
const TRANSFER_WITH_MEMO = '95777d59';

/** The most that a fee on Tempo may be, in 10^-18 of a dollar: five dollars. A higher one is a mistake. */
const TEMPO_FEE_MAX = 5n * 10n ** 18n;

/** Any TIP-20 token, by the form of its address: the chain takes a fee in dollar tokens only, and it is bounded. */
const TIP20 = /^0x20c0{21}/i;

const lower = (text: string): string => text.toLowerCase();
const isSame = (a: string | null | undefined, b: string): boolean => typeof a === 'string' && lower(a) === lower(b);
const isNone = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;

/** Compares calldata argument by argument, so that a person is told what is wrong. */
function callDifferences(
  selector: string,
  data: Hex | undefined,
  { requestor, amount, reference }: Terms,
): readonly (readonly [Difference, boolean])[] {
  const text = lower(data ?? '').slice(2);
  if (text.length !== 8 + 3 * 64 || !text.startsWith(selector)) return [['more', false]];
  const word = (index: number): string => text.slice(8 + index * 64, 8 + (index + 1) * 64);
  return [
    ['recipient', word(0) === lower(requestor).slice(2).padStart(64, '0')],
    ['amount', BigInt(`0x${word(1)}`) === amount],
    ['reference', isSame(`0x${word(2)}`, reference)],
  ];
}

/** What is read of bytes; null where they cannot be read. */
function read<Result>(reader: () => Result): Result | null {
  try {
    return reader();
  } catch {
    // The errors of deserializers are for programmers, and bytes of the wrong shape (a list where text belongs) break
    // the types that they promise. For the payer it is not the transaction that was promised.
    return null;
  }
}

/** Checks the unsigned EIP-1559 transaction of a payment on Base. */
export const checkBase = (bytes: Uint8Array, terms: Terms): Checked<Call> =>
  read(() => judgeBase(bytes, terms)) ?? refused('malformed');

function judgeBase(bytes: Uint8Array, terms: Terms): Checked<Call> {
  const text = fromBytes(bytes);
  const envelope = readEip1559(text as `0x02${string}`);
  const { chainId, to, data, value, accessList, r, s } = envelope;
  return judged(
    [
      // Written again it must be the same bytes: nothing that the reader overlooks.
      ['malformed', writeEip1559(envelope) === text && r === undefined && s === undefined],
      ['chain', `eip155:${chainId}` === terms.network.chain],
      ['token', isSame(to, terms.tokenAddress)],
      ['more', (value ?? 0n) === 0n && isNone(accessList)],
      ...callDifferences(TRANSFER, data, terms),
    ],
    { isSponsored: false, chainId, to: terms.tokenAddress as Address, data: data as Hex },
  );
}

/** Checks the unsigned transaction of type 0x76 of a payment on Tempo. */
export const checkTempo = (bytes: Uint8Array, terms: Terms): Checked<TempoCall> =>
  read(() => judgeTempo(bytes, terms)) ?? refused('malformed');

function judgeTempo(bytes: Uint8Array, terms: Terms): Checked<TempoCall> {
  const text = fromBytes(bytes);
  const envelope = readTempo(text as `0x76${string}`);
  const { calls, chainId, accessList, authorizationList, keyAuthorization, feePayerSignature, signature } = envelope;
  const { feeToken, gas = 0n, maxFeePerGas = 0n } = envelope;
  // A place for the signature of a fee payer, who then chooses the fee token.
  const isSponsored = feePayerSignature === null;
  const [call] = calls;
  return judged(
    [
      ['malformed', writeTempo(envelope as never) === text && signature === undefined],
      ['chain', `eip155:${chainId}` === terms.network.chain],
      ['token', isSame(call?.to, terms.tokenAddress)],
      // An authorization would give the account, or a key of it, away.
      ['more', calls.length === 1 && (call?.value ?? 0n) === 0n && isNone(accessList)],
      ['more', isNone(authorizationList) && keyAuthorization === undefined],
      ['more', feePayerSignature === undefined || isSponsored],
      ...callDifferences(TRANSFER_WITH_MEMO, call?.data, terms),
      ['fee', gas * maxFeePerGas <= TEMPO_FEE_MAX],
      ['fee', feeToken === undefined || TIP20.test(String(feeToken))],
    ],
    { isSponsored, chainId, to: terms.tokenAddress as Address, data: call?.data as Hex, envelope },
  );
}
