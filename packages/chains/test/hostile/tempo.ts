import type { PaymentTerms } from '@pf/domain';
import { encodeAbiParameters, type Hex, keccak256, toHex } from 'viem';

/** The block in which hostile transactions claim to be, as a node returns it. */
export interface Place {
  readonly number: Hex;
  readonly hash: Hex;
}

/** What a node returns of a transaction that was made to do harm. */
export interface Hostile {
  /** The logs that a search for payments finds. */
  readonly logs: readonly object[];
  /** Null where it has none; an Error where it refuses. */
  readonly receipt: unknown;
}

export interface HostileTransaction {
  readonly name: string;
  /** False where it can be judged: it pays nothing. */
  readonly isSetAside: boolean;
  /** @param terms of the intent that it claims to pay */
  readonly make: (hash: Hex, place: Place, terms: PaymentTerms) => Hostile;
}

const THIEF = `0x${'66'.repeat(20)}` as const;
const GUARD = '0xB10C000000000000000000000000000000000000';
const VIRTUAL = `0x12345678${'fd'.repeat(10)}010203040506` as const;
const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000';
const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
const WITH_MEMO = keccak256(toHex('TransferWithMemo(address,address,uint256,bytes32)'));
const BLOCKED = keccak256(toHex('TransferBlocked(address,address,uint64,uint256,uint8,bytes)'));
const word = (hex: string): Hex => `0x${hex.slice(2).toLowerCase().padStart(64, '0')}`;

interface Event {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** The events of a payment and what a node makes of them, for one hostile transaction. */
class Maker {
  readonly #hash: Hex;
  readonly #place: Place;
  readonly #terms: PaymentTerms;

  constructor(hash: Hex, place: Place, terms: PaymentTerms) {
    this.#hash = hash;
    this.#place = place;
    this.#terms = terms;
  }

  transfer(from: string = THIEF, to: string = this.#terms.requestor, amount = this.#terms.amount): Event {
    const { tokenAddress } = this.#terms;
    return { address: tokenAddress, topics: [TRANSFER, word(from), word(to)], data: word(toHex(amount)) };
  }
  memo(from: string = THIEF, to: string = this.#terms.requestor): Event {
    const { topics, ...rest } = this.transfer(from, to);
    return { ...rest, topics: [WITH_MEMO, ...topics.slice(1), this.#terms.reference] };
  }
  blocked(witness: Hex): Event {
    const { tokenAddress, requestor, amount } = this.#terms;
    return {
      address: GUARD,
      topics: [BLOCKED, word(tokenAddress), word(requestor), word('0x07')],
      data: encodeAbiParameters([{ type: 'uint256' }, { type: 'uint8' }, { type: 'bytes' }], [amount, 1, witness]),
    };
  }
  logs(events: readonly Event[], first = 0): readonly object[] {
    return events.map((event, place) => ({
      ...event,
      blockNumber: this.#place.number,
      blockHash: this.#place.hash,
      transactionHash: this.#hash,
      transactionIndex: '0x0',
      logIndex: toHex(first + place),
      removed: false,
    }));
  }
  receipt(events: readonly Event[], change: Readonly<Record<string, unknown>> = {}): object {
    return {
      transactionHash: this.#hash,
      status: '0x1',
      blockNumber: this.#place.number,
      blockHash: this.#place.hash,
      from: THIEF,
      logs: this.logs(events),
      ...change,
    };
  }
}

/** Its log says that it paid, and its receipt is this. */
const withReceipt =
  (receiptOf: (maker: Maker) => unknown, searched?: (maker: Maker) => readonly Event[]) =>
  (hash: Hex, place: Place, terms: PaymentTerms): Hostile => {
    const maker = new Maker(hash, place, terms);
    return { logs: maker.logs(searched?.(maker) ?? [maker.memo()]), receipt: receiptOf(maker) };
  };
const payment = (maker: Maker): readonly Event[] => [maker.transfer(), maker.memo()];
/** Of a contract of the thief's own: whatever it likes. */
const foreign = (count: number, data = '0x'): readonly Event[] =>
  Array.from({ length: count }, () => ({ address: THIEF, topics: [], data }));

const aside = (name: string, make: HostileTransaction['make']): HostileTransaction => ({
  name,
  isSetAside: true,
  make,
});
const judged = (name: string, make: HostileTransaction['make']): HostileTransaction => ({
  name,
  isSetAside: false,
  make,
});

/** Transactions that do harm to an observer of Tempo, each beside its name. None pays anything. */
export const HOSTILE_ON_TEMPO: readonly HostileTransaction[] = [
  aside(
    'a log whose transaction has no receipt',
    withReceipt(() => null),
  ),
  aside(
    'a receipt that the node refuses',
    withReceipt(() => new Error('internal error')),
  ),
  aside(
    'a receipt that is a text',
    withReceipt(() => 'none'),
  ),
  aside(
    'a receipt without logs',
    withReceipt((maker) => maker.receipt([], { logs: undefined })),
  ),
  aside(
    'a receipt of another block',
    withReceipt((maker) => maker.receipt(payment(maker), { blockHash: `0x${'00'.repeat(32)}` })),
  ),
  aside(
    'a receipt of another transaction',
    withReceipt((maker) => maker.receipt(payment(maker), { transactionHash: `0x${'11'.repeat(32)}` })),
  ),
  aside(
    'a receipt with a status that is unknown',
    withReceipt((maker) => maker.receipt(payment(maker), { status: '0x2' })),
  ),
  aside(
    'a receipt with half a byte',
    withReceipt((maker) => maker.receipt([maker.transfer(), { ...maker.memo(), data: '0x123' }])),
  ),
  aside(
    'a receipt with a short topic',
    withReceipt((maker) =>
      maker.receipt([
        { ...maker.transfer(), topics: ['0x12'] },
        { ...maker.memo(), topics: [WITH_MEMO, '0x'] },
      ]),
    ),
  ),
  aside(
    'logs out of order',
    withReceipt((maker) => maker.receipt([], { logs: [...maker.logs(payment(maker))].reverse() })),
  ),
  aside(
    'a log twice',
    withReceipt((maker) => maker.receipt([], { logs: [...maker.logs(payment(maker)), ...maker.logs(payment(maker))] })),
  ),
  aside(
    'a receipt of 10 MB',
    withReceipt((maker) => maker.receipt(foreign(10, `0x${'00'.repeat(500_000)}`))),
  ),
  judged(
    '10,000 logs of another contract, and no payment',
    withReceipt((maker) => maker.receipt(foreign(10_000))),
  ),
  judged(
    'a memo without a transfer',
    withReceipt((maker) => maker.receipt([maker.memo()])),
  ),
  judged(
    'a memo of another amount than the transfer',
    withReceipt((maker) => maker.receipt([maker.transfer(THIEF, undefined, 1n), maker.memo()])),
  ),
  judged(
    'a memo whose money goes back',
    withReceipt((maker) => {
      const back = { ...maker.transfer(), topics: [TRANSFER, ...maker.transfer().topics.slice(1).reverse()] };
      return maker.receipt([...payment(maker), back]);
    }),
  ),
  judged(
    'a transfer to another and a memo',
    withReceipt((maker) => maker.receipt([maker.transfer(THIEF, GUARD), maker.memo()])),
  ),
  judged(
    'a memo to a virtual address that is not forwarded',
    withReceipt((maker) => maker.receipt([maker.transfer(THIEF, VIRTUAL), maker.memo(THIEF, VIRTUAL)])),
  ),
  judged(
    'three memos to a virtual address, each kept back, and the forward of another',
    withReceipt((maker) => {
      const kept = [maker.transfer(THIEF, VIRTUAL), maker.memo(THIEF, VIRTUAL), maker.transfer(VIRTUAL, GUARD)];
      return maker.receipt([
        ...kept,
        ...kept,
        ...kept,
        maker.transfer(FEE_MANAGER, VIRTUAL),
        maker.transfer(VIRTUAL, THIEF),
      ]);
    }),
  ),
  judged(
    'a transfer whose only topic is its name, last',
    withReceipt((maker) => maker.receipt([{ ...maker.transfer(), topics: [TRANSFER] }])),
  ),
  judged(
    'data that is no number',
    withReceipt((maker) =>
      maker.receipt([
        { ...maker.transfer(), data: '0x' },
        { ...maker.memo(), data: '0x' },
      ]),
    ),
  ),
  judged(
    'a number of 64 bytes',
    withReceipt((maker) => maker.receipt([{ ...maker.transfer(), data: `0x${'ff'.repeat(64)}` }, maker.memo()])),
  ),
  judged(
    'a witness of the guard that does not decode',
    withReceipt(
      (maker) => maker.receipt([maker.transfer(THIEF, GUARD), maker.blocked('0x1234')]),
      (maker) => [maker.blocked('0x1234')],
    ),
  ),
  judged(
    'a log that the search should not have found',
    withReceipt(
      (maker) => maker.receipt([]),
      (maker) => [
        { ...maker.memo(), topics: [WITH_MEMO] },
        { ...maker.memo(), data: '0x' },
      ],
    ),
  ),
  judged(
    'a transaction that reverted',
    withReceipt((maker) => maker.receipt(payment(maker), { status: '0x0' })),
  ),
];
