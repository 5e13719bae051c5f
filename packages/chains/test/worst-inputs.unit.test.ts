import { describe, expect, it } from '@jest/globals';
import type { Address, ChainId } from '@pf/domain';
import { cpuOfARun } from '@pf/testing/quiet-core';
import { Wallet } from 'ethers/wallet';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { BaseAdapter } from '../src/base/adapter.ts';
import { decodeSigned } from '../src/base/signed-transaction.ts';
import { callsOf } from '../src/base/user-operations/account-calls.ts';
import { type ChainAdapter, networkOf } from '../src/index.ts';
import { SolanaAdapter } from '../src/solana/adapter.ts';
import { fromChain } from '../src/tempo/signed-transaction.ts';
import { TempoAdapter } from '../src/tempo/adapter.ts';
import { poolOver } from './base/chain.ts';
import { terms } from './base/payments.ts';
import { tempoPool } from './tempo/chain.ts';

/** What one text may take to parse: a gateway serves nothing else meanwhile. */
const MS_MAX = 5;
const RUNS = 4;

/** Parsing asks no upstream. */
const base = new BaseAdapter(networkOf('eip155:84532' as ChainId), poolOver([]));
const tempo = new TempoAdapter(networkOf('eip155:42431' as ChainId), tempoPool([]));
const solana = new SolanaAdapter(networkOf('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId), poolOver([]));
const BYTES_MAX = { base: 4_096, tempo: 2_048, solana: 1_232 } as const;

const payer = new Wallet(`0x${'a1'.repeat(32)}`);
const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
const address = (index: number): string => `0x${index.toString(16).padStart(40, 'a')}`;

/** The CPU of a run in ms of a quiet core, and what came of it. Each run decodes again. */
function quickestOf(read: () => unknown, enoughMs = MS_MAX): readonly [number, unknown] {
  let found: unknown = null;
  return [cpuOfARun(() => (found = read()), RUNS, enoughMs), found];
}

function fastest(
  adapter: Pick<ChainAdapter, 'parseSubmitted'>,
  raw: Uint8Array,
  enoughMs = MS_MAX,
): readonly [number, unknown] {
  const text = Buffer.from(raw).toString('base64');
  return quickestOf(() => adapter.parseSubmitted(text), enoughMs);
}

/** Lists within lists, as many as fit. */
function nested(bytes: number): Buffer {
  const around = (inner: Buffer): Buffer => {
    const { length } = inner;
    const head = length < 56 ? [0xc0 + length] : length < 256 ? [0xf8, length] : [0xf9, length >> 8, length & 0xff];
    return Buffer.concat([Buffer.from(head), inner]);
  };
  let all: Buffer = Buffer.of(0xc0);
  for (let more = around(all); more.length <= bytes; more = around(all)) all = more;
  return all;
}
/** A list of as many items of one byte as fit. */
const flat = (bytes: number, item: number): Buffer =>
  Buffer.concat([Buffer.of(0xf9, (bytes - 3) >> 8, (bytes - 3) & 0xff), Buffer.alloc(bytes - 3, item)]);

async function onBase(accessed: number, keys: number, data = 0): Promise<Buffer> {
  const storageKeys = Array.from({ length: keys }, (_, key) => `0x${key.toString(16).padStart(64, 'b')}`);
  const accessList = Array.from({ length: accessed }, (_, index) => ({ address: address(index), storageKeys }));
  const hex = await payer.signTransaction({
    type: 2,
    chainId: 84_532,
    nonce: 0,
    to: payer.address,
    data: `0x${'ff'.repeat(data)}`,
    gasLimit: 1_000_000,
    maxFeePerGas: 1,
    maxPriorityFeePerGas: 1,
    accessList,
  });
  return bytesOf(hex);
}

const call = { to: address(1), data: '0x' } as const;
type Envelope = Parameters<typeof TxEnvelopeTempo.serialize>[0];
type Signature = NonNullable<NonNullable<Parameters<typeof TxEnvelopeTempo.serialize>[1]>['signature']>;
function onTempo(more: object, signature: object): Buffer {
  const common = { chainId: 42_431, calls: [call], gas: 1n, maxFeePerGas: 1n, nonceKey: 0n, nonce: 0n, validBefore: 1 };
  const envelope = { type: 'tempo', ...common, ...more } as unknown as Envelope;
  return bytesOf(TxEnvelopeTempo.serialize(envelope, { signature: signature as Signature }));
}
const byKey = { type: 'secp256k1', signature: { r: 1n, s: 1n, yParity: 0 } } as const;
const byPasskey = (authenticatorData: string, clientDataJSON = '{}'): object => ({
  type: 'webAuthn',
  metadata: { authenticatorData: `0x${authenticatorData}`, clientDataJSON },
  publicKey: { prefix: 4, x: 1n, y: 1n },
  signature: { r: 1n, s: 1n },
});
const COSTLY = 'has a passkey signature whose client data does not begin within 101 bytes';

/** A message of version 0 with one signature, and as much as fits of what is given. */
function onSolana(accounts: number, instructions: number, tables: number): Buffer {
  const compact = (length: number): Buffer =>
    length < 0x80 ? Buffer.of(length) : Buffer.of((length & 0x7f) | 0x80, length >> 7);
  return Buffer.concat([
    Buffer.of(1),
    Buffer.alloc(64, 7),
    Buffer.of(0x80, 1, 0, 0, accounts),
    ...Array.from({ length: accounts + 1 }, (_, index) => Buffer.alloc(32, index + 1)),
    compact(instructions),
    Buffer.alloc(3 * instructions),
    Buffer.of(tables),
    ...Array.from({ length: tables }, (_, index) => Buffer.concat([Buffer.alloc(32, index + 1), Buffer.of(0, 0)])),
  ]);
}

const onBaseAtWorst: readonly (readonly [what: string, raw: Buffer, expected: true | string])[] = [
  ['the longest calldata', await onBase(0, 0, 3_900), true],
  ['as many addresses as may be accessed, with keys', await onBase(16, 6), true],
  ['as many storage keys as fit', await onBase(1, 115), true],
  ['more addresses', await onBase(17, 0), 'has an access list of more than 16 addresses'],
  ['as many addresses as fit', await onBase(170, 0), 'has an access list of more than 16 addresses'],
  [
    'lists within lists',
    Buffer.concat([Buffer.of(2), nested(BYTES_MAX.base - 1)]),
    'is not a valid RLP-encoded transaction',
  ],
  ['lists within lists, of type 0', nested(BYTES_MAX.base), 'is not a valid RLP-encoded transaction'],
  [
    'as many items as fit',
    Buffer.concat([Buffer.of(2), flat(BYTES_MAX.base - 1, 1)]),
    'is not a valid RLP-encoded transaction',
  ],
  [
    'as many lists as fit',
    Buffer.concat([Buffer.of(2), flat(BYTES_MAX.base - 1, 0xc0)]),
    'is not a valid RLP-encoded transaction',
  ],
];

describe('the parsers of signed transactions', () => {
  it.each([
    ['Base', base, BYTES_MAX.base],
    ['Tempo', tempo, BYTES_MAX.tempo],
    ['Solana', solana, BYTES_MAX.solana],
  ])('refuse on %s what is longer than a payment, by its length', (_chain, adapter, bytesMax) => {
    const problem = `is longer than ${bytesMax} bytes`;
    for (const bytes of [bytesMax + 1, bytesMax + 3, 48 * 1_024]) {
      const [ms, parsed] = fastest(adapter, Buffer.alloc(bytes, 2), 1);
      expect(parsed).toEqual({ ok: false, problem });
      expect(ms).toBeLessThan(1);
    }
  });

  it.each(onBaseAtWorst)('take a few milliseconds on Base for %s', (_what, raw, expected) => {
    expect(raw.length).toBeLessThanOrEqual(BYTES_MAX.base);
    const [ms, parsed] = fastest(base, raw);
    expect(parsed).toMatchObject(expected === true ? { ok: true } : { ok: false, problem: expected });
    expect(ms).toBeLessThan(MS_MAX);
  });

  it.each([
    ['as many calls as fit', onTempo({ calls: Array.from({ length: 70 }, () => call) }, byKey), true],
    [
      'as many addresses as fit',
      onTempo(
        { accessList: Array.from({ length: 80 }, (_, index) => ({ address: address(index), storageKeys: [] })) },
        byKey,
      ),
      true,
    ],
    ['a passkey’s data of zeros', onTempo({}, byPasskey('00'.repeat(1_700))), COSTLY],
    ['a passkey’s data that begins as JSON everywhere', onTempo({}, byPasskey('7b'.repeat(1_700))), COSTLY],
    ['data that is no object', onTempo({}, byPasskey('7b'.repeat(101), JSON.stringify('x'.repeat(1_500)))), COSTLY],
    [
      'the longest client data behind the longest extensions',
      onTempo({}, byPasskey('7b'.repeat(101), JSON.stringify({ origin: 'x'.repeat(1_500) }))),
      true,
    ],
    [
      'a passkey that acts for another account',
      onTempo({}, { type: 'keychain', version: 'v2', userAddress: address(2), inner: byPasskey('7b'.repeat(1_700)) }),
      COSTLY,
    ],
    [
      'lists within lists',
      Buffer.concat([Buffer.of(0x76), nested(BYTES_MAX.tempo - 1)]),
      'is not a valid transaction of type 0x76',
    ],
    [
      'lists within lists, for a fee payer',
      Buffer.concat([Buffer.of(0x78), nested(BYTES_MAX.tempo - 1)]),
      'is not a transaction of type 0x76',
    ],
    [
      'as many items as fit',
      Buffer.concat([Buffer.of(0x76), flat(BYTES_MAX.tempo - 1, 1)]),
      'is not a valid transaction of type 0x76',
    ],
    ['a signature that is a list of lists', withSignature(Buffer.concat([Buffer.of(5), nested(1_700)])), COSTLY],
  ])('take a few milliseconds on Tempo for %s', (_what, raw, expected) => {
    expect(raw.length).toBeLessThanOrEqual(BYTES_MAX.tempo);
    const [ms, parsed] = fastest(tempo, raw);
    expect(parsed).toMatchObject(expected === true ? { ok: true } : { ok: false, problem: expected });
    expect(ms).toBeLessThan(MS_MAX);
  });

  it.each([
    ['as many accounts as fit', onSolana(34, 0, 0), true],
    ['as many instructions as fit', onSolana(1, 360, 0), true],
    ['as many tables as fit', onSolana(1, 0, 31), true],
    ['zeros', Buffer.alloc(BYTES_MAX.solana), 'is not signed'],
    ['ones', Buffer.alloc(BYTES_MAX.solana, 0xff), 'is not a valid Solana transaction'],
  ])('take a few milliseconds on Solana for %s', (_what, raw, expected) => {
    expect(raw.length).toBeLessThanOrEqual(BYTES_MAX.solana);
    const [ms, parsed] = fastest(solana, raw);
    expect(parsed).toMatchObject(expected === true ? { ok: true } : { ok: false });
    expect(ms).toBeLessThan(MS_MAX);
  });

  it('take a passkey’s signature from a node for none where it takes long to read', () => {
    const webauthnData = `0x${'7b'.repeat(1_700)}`;
    const signature = { type: 'webAuthn', webauthnData, r: '0x1', s: '0x1', pubKeyX: '0x1', pubKeyY: '0x1' };
    const read = (): unknown => fromChain(`0x${'11'.repeat(32)}` as never, { type: 0x76n, signature });
    const [ms, found] = quickestOf(read);
    expect(found).toBeNull();
    expect(ms).toBeLessThan(MS_MAX);
  });

  it('decode what was submitted once: it is handed on', async () => {
    const raw = await onBase(16, 6);
    const parsed = base.parseSubmitted(raw.toString('base64'));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('it is not parsed');
    const { transaction } = parsed.value;
    expect(decodeSigned(transaction.raw)).toBe(decodeSigned(transaction.raw));
  });
});

const word = (value: number): string => value.toString(16).padStart(64, '0');
const hexWord = (hex: string): string => hex.slice(2).toLowerCase().padStart(64, '0');
/** A list all of whose elements are the bytes behind it. */
const repeated = (length: number, element: string): string =>
  [word(32), word(length), ...Array.from({ length }, () => word(32 * length)), element].join('');
const bytesIn = (hex: string): string => word(hex.length / 2) + hex;
/** (address, uint256, bytes) */
const callTo = (to: string, data = ''): string => [hexWord(to), word(0), word(96), bytesIn(data)].join('');
const ACCOUNT = payer.address as Address;
const USDC = terms.tokenAddress as string;
const BATCH = '34fcd5be';
/** A batch whose last call is missing. */
const cutOff = (length: number): string =>
  [
    word(32),
    word(length),
    ...Array.from({ length: length - 1 }, () => word(32 * length)),
    word(0xff_ff_ff),
    callTo(USDC),
  ].join('');
const inMode = (execution: string): string =>
  ['e9ae5c53', '01000000000078210002'.padEnd(64, '0'), word(64), bytesIn(execution)].join('');
const OPERATION_BYTES_MAX = 8_192;
/** What reads each call of calldata, and what that is told about. */
const calldataAtWorst = (length: number): readonly (readonly [what: string, calldata: string])[] => [
  ['calls that are all the same bytes', BATCH + repeated(length, callTo(USDC))],
  ['batches that are all the same bytes', inMode(repeated(length, bytesIn(repeated(length, callTo(USDC)))))],
  [
    'calls of the account to itself that end too early',
    BATCH + repeated(length, callTo(ACCOUNT, BATCH + cutOff(length))),
  ],
  [
    'calls of the account to itself that are batches which end too early',
    BATCH + repeated(length, callTo(ACCOUNT, inMode(repeated(length, bytesIn(cutOff(length)))))),
  ],
];

describe('the parser of user operations', () => {
  const operation = (change: object): readonly unknown[] => [
    { sender: ACCOUNT, nonce: '0x0', callData: '0x', ...change },
    '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
    '0x14a34',
  ];
  const judge = (change: object): unknown => {
    const parsed = base.paymasters?.parse('pm_getPaymasterStubData', operation(change));
    return parsed?.ok === true ? Object.keys(parsed.value.differences(terms)) : parsed;
  };

  it.each(calldataAtWorst(76))('takes a few milliseconds for calldata of %s', (_what, calldata) => {
    expect(calldata.length).toBeLessThanOrEqual(2 * OPERATION_BYTES_MAX);
    const [ms, differs] = quickestOf(() => judge({ callData: `0x${calldata}` }));
    expect(differs).toEqual(['calls']);
    expect(ms).toBeLessThan(MS_MAX);
  });

  it.each([
    ['the longest calldata', { callData: `0x${'ff'.repeat(OPERATION_BYTES_MAX)}` }, ['calls']],
    ['the longest payment', { callData: `0x${BATCH}${repeated(1, callTo(USDC, 'ff'.repeat(7_900)))}` }, ['amount']],
    ['bytes of which the last is none', { callData: `0x${'ff'.repeat(OPERATION_BYTES_MAX - 1)}fg` }, 'callData'],
    ['calldata that is too long', { callData: `0x${'ff'.repeat(OPERATION_BYTES_MAX + 1)}` }, 'callData'],
    ['a deployment that is too long', { initCode: `0x${'ff'.repeat(30_000)}` }, 'initCode'],
    ['a signature that is too long', { signature: `0x${'ff'.repeat(30_000)}` }, 'signature'],
  ])('takes a few milliseconds for %s', (_what, change, expected) => {
    const [ms, found] = quickestOf(() => judge(change));
    if (typeof expected === 'string')
      expect(found).toEqual({ ok: false, problem: `has no valid ${expected} in the user operation` });
    else expect(found).toEqual(expect.arrayContaining(expected));
    expect(ms).toBeLessThan(MS_MAX);
  });

  it.each(calldataAtWorst(256))(
    'takes hardly longer for an operation of as much calldata as nodes take: %s',
    (_what, calldata) => {
      const bytes = Buffer.from(calldata, 'hex');
      const [ms] = quickestOf(() => callsOf(ACCOUNT, bytes), 3 * MS_MAX);
      expect(ms).toBeLessThan(3 * MS_MAX);
    },
  );
});

/** A transaction of type 0x76 with these bytes in the place of its signature. */
function withSignature(bytes: Uint8Array): Buffer {
  const placeholder = Buffer.alloc(65, 1);
  const known = onTempo({}, byKey);
  const fields = known.subarray(known[1] === 0xf8 ? 3 : 2, known.length - placeholder.length - 2);
  const head = bytes.length < 256 ? [0xb8, bytes.length] : [0xb9, bytes.length >> 8, bytes.length & 0xff];
  const length = fields.length + head.length + bytes.length;
  return Buffer.concat([Buffer.of(0x76, 0xf9, length >> 8, length & 0xff), fields, Buffer.from(head), bytes]);
}
