import type { Address, Reference } from '@pf/domain';
import { concat, type Hex, numberToHex, pad, toHex } from 'viem';
import { argumentsOf, encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';

/** What a node says of a transaction. An Error is a refusal; undefined: it never responds. */
export interface Shown {
  readonly logs: readonly object[];
  readonly transaction: unknown;
  readonly receipt: unknown;
  readonly trace: unknown;
}

/** Where a hostile transaction is, and whom it pretends to pay. */
export interface Place {
  readonly hash: Hex;
  readonly block: bigint;
  readonly blockHash: Hex;
  readonly token: Address;
  /** A watched recipient and a reference of its intent. */
  readonly recipient: Address;
  readonly reference: Reference;
}
export type At = Pick<Place, 'hash' | 'block' | 'blockHash'>;

const ATTACKER = `0x${'ba'.repeat(20)}` as Address;
const CONTRACT = `0x${'cd'.repeat(20)}` as Address;
const ENTRY_POINT = '0x0000000071727de22e5e9d8baf0edac6f37da032';
const USER_OPERATION_EVENT = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f';
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
export const topic = (address: string): Hex => pad(address.toLowerCase() as Hex);
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const many = <T>(length: number, make: (number: number) => T): T[] =>
  Array.from({ length }, (_, number) => make(number));

export const logAt = (
  { hash, block, blockHash }: At,
  index: number,
  address: string,
  topics: readonly string[],
  data: string,
) => ({
  address,
  topics,
  data,
  blockNumber: numberToHex(block),
  blockHash,
  transactionHash: hash,
  logIndex: numberToHex(index),
});
const transferAt = (place: Place, index = 0, amount = 1n) =>
  logAt(place, index, place.token, [TRANSFER, topic(ATTACKER), topic(place.recipient)], word(amount));
const payment = ({ recipient, reference }: Place, amount = 1n): Hex =>
  encodePayment(recipient, amount, reference) as Hex;

const transaction = (place: Place, changed: object = {}) => ({
  hash: place.hash,
  type: '0x2',
  from: ATTACKER,
  to: CONTRACT,
  nonce: '0x1',
  gas: numberToHex(16_000_000),
  value: '0x0',
  input: payment(place),
  blockHash: place.blockHash,
  ...changed,
});
const receipt = (place: Place, changed: object = {}) => ({
  transactionHash: place.hash,
  status: '0x1',
  blockNumber: numberToHex(place.block),
  blockHash: place.blockHash,
  from: ATTACKER,
  to: CONTRACT,
  logs: [transferAt(place)],
  gasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  ...changed,
});
const ordinary = (place: Place): Shown => ({
  logs: [transferAt(place)],
  transaction: transaction(place),
  receipt: receipt(place),
  trace: new Error('the method debug_traceTransaction does not exist'),
});
/** One that is ordinary but for these parts. */
const but =
  (change: (place: Place) => Partial<Shown>) =>
  (place: Place): Shown => ({ ...ordinary(place), ...change(place) });

/** Calls in one another, the deepest of which makes a transfer that its account has not ordered. */
function deep(place: Place, depth: number): object {
  let frame: object = {
    type: 'CALL',
    from: CONTRACT,
    to: place.token,
    input: payment(place),
    logs: [transferAt(place)],
  };
  for (let level = 0; level < depth; level += 1)
    frame = { type: 'CALL', from: CONTRACT, to: CONTRACT, input: '0x', calls: [frame] };
  return frame;
}

/**
 * Transactions that strangers can make, and what nodes may say of them. None of them pays an intent; each of them once
 * stopped, slowed or misled an observer, or looks as if it could.
 */
export const HOSTILE: Readonly<Record<string, (place: Place) => Shown>> = {
  'a receipt of 40,000 empty logs': but((place) => ({
    receipt: receipt(place, {
      logs: [transferAt(place), ...many(40_000, (number) => logAt(place, number + 1, CONTRACT, [], '0x'))],
    }),
  })),
  'a receipt of 12,000 empty logs, which is read': but((place) => ({
    receipt: receipt(place, {
      logs: [transferAt(place), ...many(12_000, (number) => logAt(place, number + 1, CONTRACT, [], '0x'))],
    }),
  })),
  'a receipt with a log of 2 MB': but((place) => ({
    receipt: receipt(place, { logs: [transferAt(place), logAt(place, 1, CONTRACT, [], `0x${'00'.repeat(2 ** 21)}`)] }),
  })),
  'a type and fields that are unknown': but((place) => ({
    transaction: transaction(place, { type: '0x7f', accessList: { new: [] }, blobs: [1], v: 'none', gasPrice: null }),
  })),
  'a transaction without its nonce': but((place) => ({ transaction: transaction(place, { nonce: undefined }) })),
  'a transaction that is not returned': but(() => ({ transaction: null })),
  'a transaction that is refused': but(() => ({ transaction: new Error('internal error') })),
  'a receipt of another block': but((place) => ({ receipt: receipt(place, { blockHash: `0x${'0b'.repeat(32)}` }) })),
  'no receipt': but(() => ({ receipt: null })),
  'a receipt that is refused': but(() => ({ receipt: new Error('internal error') })),
  'a transaction that never comes': but(() => ({ transaction: undefined })),
  'a receipt that never comes': but(() => ({ receipt: undefined })),
  'a receipt that is none': but(() => ({ receipt: { logs: 'many' } })),
  'a receipt whose logs are none': but((place) => ({ receipt: receipt(place, { logs: [null, 1, 'log', {}] }) })),
  'logs of the token with one topic': but((place) => ({
    receipt: receipt(place, {
      logs: [
        transferAt(place),
        logAt(place, 1, place.token, [TRANSFER], '0x'),
        logAt(place, 2, place.token, [AUTHORIZATION_USED], '0x'),
        logAt(place, 3, ENTRY_POINT, [USER_OPERATION_EVENT], '0x'),
      ],
    }),
  })),
  'the same log twice': but((place) => ({ receipt: receipt(place, { logs: [transferAt(place), transferAt(place)] }) })),
  'calldata with 1,300 references and 1,000 transfers': but((place) => {
    const logs = many(1_000, (number) => transferAt(place, number));
    const input = concat(
      many(1_300, (number) => encodePayment(place.recipient, 1n, word(BigInt(number)) as string as Reference) as Hex),
    );
    return { logs, receipt: receipt(place, { logs }), transaction: transaction(place, { input }) };
  }),
  'calldata of nothing but the beginnings of transfers': but((place) => {
    const logs = many(500, (number) => transferAt(place, number, BigInt(number)));
    const input = `0x${'a9059cbb'.repeat(32_000)}`;
    return { logs, receipt: receipt(place, { logs }), transaction: transaction(place, { input }) };
  }),
  'a bundle whose offsets all name the same bytes': but((place) => ({
    transaction: transaction(place, {
      to: ENTRY_POINT,
      input: `0x765e827f${argumentsOf(ATTACKER, 256n)}${'00'.repeat(32 * 4_000)}`,
    }),
  })),
  'a trace 1,023 calls deep': but((place) => ({ trace: deep(place, 1_023) })),
  'a trace that is none': but(() => ({ trace: { type: 1 } })),
  'a trace of other logs': but(() => ({ trace: { type: 'CALL', from: ATTACKER, to: CONTRACT, input: '0x' } })),
};
