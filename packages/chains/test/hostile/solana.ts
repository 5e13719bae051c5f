/** A transaction as a node shows it that pays an intent, all of which a hostile one may change. */
export interface ShownTransaction {
  readonly slot: unknown;
  readonly transaction: readonly [string, string];
  readonly meta: {
    readonly err: unknown;
    readonly fee: unknown;
    readonly preTokenBalances: readonly ShownBalance[];
    readonly postTokenBalances: readonly ShownBalance[];
    readonly innerInstructions: readonly unknown[];
    readonly loadedAddresses: unknown;
  };
}
interface ShownBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly uiTokenAmount: { readonly amount: string };
}

interface HostileTransaction {
  readonly name: string;
  /** What the node shows of the transaction. */
  readonly show: (good: ShownTransaction) => unknown;
  /** False: it can be judged, strange as it is, and pays nothing. */
  readonly isSetAside: boolean;
}

const KIB_10 = 10_240;
/** Base58 of so many bytes, or nearly. */
const longText = 'z'.repeat(Math.floor(KIB_10 * 1.36));
const [CALLS_MAX, ACCOUNTS_MAX] = [63, 64];
/** The token program's place in the payment that is changed is told by whoever uses this. */
const calling = (program: number, data: string, count: number, accounts: readonly number[] = []) => [
  {
    index: 0,
    instructions: Array.from({ length: count }, () => ({ programIdIndex: program, accounts, data, stackHeight: 2 })),
  },
];
const withMeta =
  (change: (meta: ShownTransaction['meta']) => object) =>
  (good: ShownTransaction): unknown => ({ ...good, meta: { ...good.meta, ...change(good.meta) } });
const withAfter = (change: (balance: ShownBalance) => object) =>
  withMeta(({ postTokenBalances }) => ({
    postTokenBalances: postTokenBalances.map((balance) => ({ ...balance, ...change(balance) })),
  }));
const withBytes =
  (change: (bytes: Buffer) => Buffer) =>
  (good: ShownTransaction): unknown => ({
    ...good,
    transaction: [change(Buffer.from(good.transaction[0], 'base64')).toString('base64'), 'base64'],
  });
const nested = (depth: number): unknown => {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};
const without =
  (field: string) =>
  (good: ShownTransaction): unknown => {
    const { [field]: _left, ...meta } = good.meta as unknown as Record<string, unknown>;
    return { ...good, meta };
  };

/**
 * Transactions that whoever attacks, or a node that errs, may show. None may stop or delay what is read beside it.
 * @param tokenProgram the place of the token program among the accounts of the good transaction
 */
export const hostileTransactions = (tokenProgram: number): readonly HostileTransaction[] => {
  const aside = (name: string, show: HostileTransaction['show']): HostileTransaction => ({
    name,
    show,
    isSetAside: true,
  });
  /** It fails, or shows no gain, so that it pays nothing. */
  const judged = (name: string, show: HostileTransaction['show']): HostileTransaction => ({
    name,
    show: (good) => {
      const shown = show(good) as ShownTransaction;
      return { ...shown, meta: { ...shown.meta, postTokenBalances: shown.meta.preTokenBalances } };
    },
    isSetAside: false,
  });
  return [
    judged(
      '63 calls of 10 KiB',
      withMeta(() => ({ innerInstructions: calling(tokenProgram, longText, CALLS_MAX) })),
    ),
    judged(
      '63 calls of 10 KiB with 64 accounts each, of another program',
      withMeta(() => ({
        innerInstructions: calling(
          0,
          longText,
          CALLS_MAX,
          Array.from({ length: ACCOUNTS_MAX }, () => 0),
        ),
      })),
    ),
    judged(
      '1,000 references of one transfer',
      withMeta(() => ({
        innerInstructions: calling(
          tokenProgram,
          '3DbEuZHcyqBD',
          1,
          Array.from({ length: 1_004 }, () => 1),
        ),
      })),
    ),
    judged(
      'a failure of an unknown form',
      withMeta(() => ({ err: [17, { New: null }] })),
    ),
    judged(
      'a failure that is a number',
      withMeta(() => ({ err: 17 })),
    ),
    judged(
      'a failure with a cause of an unknown form',
      withMeta(() => ({ err: { InstructionError: [0, [[]]] } })),
    ),
    judged(
      'a fee below zero',
      withMeta(() => ({ fee: -1 })),
    ),
    aside('bytes that are no transaction', () => ({
      slot: 7,
      transaction: [Buffer.alloc(300, 0xff).toString('base64'), 'base64'],
      meta: { err: null, preTokenBalances: [], postTokenBalances: [] },
    })),
    aside(
      'no bytes',
      withBytes(() => Buffer.of()),
    ),
    aside(
      'a byte too many',
      withBytes((bytes) => Buffer.concat([bytes, Buffer.of(0)])),
    ),
    aside(
      'bytes that end too soon',
      withBytes((bytes) => bytes.subarray(0, 100)),
    ),
    aside(
      'a version that is unknown',
      withBytes((bytes) => {
        const changed = Buffer.from(bytes);
        changed[65] = 0x80 | 99;
        return changed;
      }),
    ),
    aside(
      'another transaction',
      withBytes((bytes) => {
        const changed = Buffer.from(bytes);
        changed[3] = (changed[3] ?? 0) ^ 1;
        return changed;
      }),
    ),
    aside('another encoding', (good) => ({ ...good, transaction: [good.transaction[0], 'base58'] })),
    aside('a text for a transaction', (good) => ({ ...good, transaction: good.transaction[0] })),
    aside('no transaction', ({ slot, meta }) => ({ slot, meta })),
    aside('a slot below zero', (good) => ({ ...good, slot: -1 })),
    aside('a slot that is a text', (good) => ({ ...good, slot: 'soon' })),
    aside('a slot beyond all numbers', (good) => ({ ...good, slot: 1e300 })),
    aside('no meta', (good) => ({ ...good, meta: null })),
    aside('no word of success or failure', without('err')),
    aside('no balances before', without('preTokenBalances')),
    aside('no balances after', without('postTokenBalances')),
    aside(
      'null for balances',
      withMeta(() => ({ preTokenBalances: null, postTokenBalances: null })),
    ),
    aside(
      'a balance of an unknown account',
      withAfter(() => ({ accountIndex: 200 })),
    ),
    aside(
      'a balance of an account below zero',
      withAfter(() => ({ accountIndex: -1 })),
    ),
    aside(
      'two balances of one account',
      withMeta(({ postTokenBalances }) => ({ postTokenBalances: [...postTokenBalances, ...postTokenBalances] })),
    ),
    aside(
      'an amount below zero',
      withAfter(() => ({ uiTokenAmount: { amount: '-5' } })),
    ),
    aside(
      'an amount beyond 64 bits',
      withAfter(() => ({ uiTokenAmount: { amount: '18446744073709551616' } })),
    ),
    aside(
      'an amount of a thousand digits',
      withAfter(() => ({ uiTokenAmount: { amount: '9'.repeat(1_000) } })),
    ),
    aside(
      'an amount with a fraction',
      withAfter(() => ({ uiTokenAmount: { amount: '1.5' } })),
    ),
    aside(
      'an amount that is a number',
      withAfter(() => ({ uiTokenAmount: { amount: 5 } })),
    ),
    aside(
      'a balance without an owner',
      withAfter(() => ({ owner: undefined })),
    ),
    aside(
      'an owner that is no address',
      withAfter(() => ({ owner: '0x00' })),
    ),
    aside(
      'a mint that is no address',
      withAfter(() => ({ mint: 'z'.repeat(44) })),
    ),
    aside(
      'a call of an unknown program',
      withMeta(() => ({ innerInstructions: calling(200, '3DbEuZHcyqBD', 1) })),
    ),
    aside(
      'a call of a program below zero',
      withMeta(() => ({ innerInstructions: calling(-1, '3DbEuZHcyqBD', 1) })),
    ),
    aside(
      'a transfer of unknown accounts',
      withMeta(() => ({ innerInstructions: calling(tokenProgram, '3DbEuZHcyqBD', 1, [200, 201, 202, 203]) })),
    ),
    aside(
      'calls of an instruction that is not there',
      withMeta(() => ({ innerInstructions: [{ index: 99, instructions: [] }] })),
    ),
    aside(
      'two lists of calls of one instruction',
      withMeta(() => ({
        innerInstructions: [...calling(0, '', 1), ...calling(0, '', 1)],
      })),
    ),
    aside(
      'a call whose data is not base58',
      withMeta(() => ({ innerInstructions: calling(tokenProgram, '0OIl', 1) })),
    ),
    aside(
      'a call without data',
      withMeta(() => ({ innerInstructions: [{ index: 0, instructions: [{ programIdIndex: 0, accounts: [] }] }] })),
    ),
    aside(
      'loaded addresses that are none',
      withMeta(() => ({ loadedAddresses: { writable: ['x'], readonly: [] } })),
    ),
    aside(
      'more characters than any transaction has',
      withMeta(() => ({ logMessages: ['z'.repeat(3_000_000)] })),
    ),
    aside(
      'more items than any transaction has',
      withMeta(() => ({ logMessages: Array.from({ length: 2_200_000 }, () => 0) })),
    ),
    aside('lists within lists', () => nested(1_000)),
    aside('a text', () => 'transaction'),
    aside('a number', () => 7),
    aside('an empty object', () => ({})),
    aside('an object with the name of its prototype', (good) => ({
      ...(JSON.parse('{"__proto__": {"slot": 7}}') as object),
      meta: good.meta,
    })),
  ];
};
