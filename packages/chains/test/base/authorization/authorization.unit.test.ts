import { describe, expect, it } from '@jest/globals';
import type { Authorization } from '@pf/contracts';
import type { Address, Reference, TransactionHash } from '@pf/domain';
import { concat, encodeAbiParameters, type Hex, hashTypedData, pad, toHex } from 'viem';
import { domainIn, hashOf, sendsAuthorization, typedDataOf } from '../../../src/base/authorization/eip3009.ts';
import { latestValidBefore, validBefore } from '../../../src/base/authorization/lifetime.ts';
import { innerSignature } from '../../../src/base/authorization/signature.ts';
import { differences } from '../../../src/base/authorization/verify.ts';
import { authorizedIn } from '../../../src/base/nested/authorized.ts';
import { TRANSFER } from '../../../src/base/observe/landings.ts';
import type { Log } from '../../../src/evm/calls.ts';
import { calldata, fulfiller, terms, tokenOf } from '../payments.ts';

const USDC = terms.tokenAddress as string as Address;
const EURC = tokenOf('EURC').address as string as Address;
const networkUsdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' as typeof terms.tokenAddress;
const STRANGER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' as Address;
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const other = `0x${'6f'.repeat(32)}` as Reference;

const good: Authorization = {
  from: fulfiller,
  to: terms.requestor,
  value: terms.amount.toString(),
  validAfter: '0',
  validBefore: '1800000000',
  nonce: terms.reference,
};
const domain = { name: 'USD Coin', version: '2', chainId: 84_532, verifyingContract: USDC };
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value]);

const word = (address: string): string => pad(address as Hex).toLowerCase();
const log = (address: Address, topics: readonly string[], data: Hex = '0x'): Omit<Log, 'logIndex'> => ({
  address,
  topics: [...topics],
  data,
  blockNumber: 1n,
  blockHash: `0x${'b1'.repeat(32)}`,
  transactionHash: `0x${'c1'.repeat(32)}` as TransactionHash,
  removed: false,
});
const used = (nonce: string = terms.reference, token = USDC, authorizer: string = fulfiller) =>
  log(token, [USED, word(authorizer), nonce]);
const transferred = (from: string = fulfiller, token = USDC) =>
  log(token, [TRANSFER, word(from), word(terms.requestor)], toHex(terms.amount, { size: 32 }));
/** The logs as a receipt has them, one after the other. */
const receipt = (...logs: readonly Omit<Log, 'logIndex'>[]): readonly Log[] =>
  logs.map((one, place) => ({ ...one, logIndex: BigInt(place + 7) }));

describe('an authorization', () => {
  it('has the hash that a wallet signs', () => {
    const { types, message } = typedDataOf(domain, good);
    expect(hashOf(domain, good)).toBe(
      hashTypedData({
        domain: { ...domain, verifyingContract: USDC as string as Hex },
        types: { TransferWithAuthorization: types.TransferWithAuthorization },
        primaryType: 'TransferWithAuthorization',
        message: {
          from: message.from as Hex,
          to: message.to as Hex,
          value: BigInt(message.value),
          validAfter: BigInt(message.validAfter),
          validBefore: BigInt(message.validBefore),
          nonce: message.nonce as Hex,
        },
      }),
    );
  });

  it('pays its intent, in whatever case its addresses are written', () => {
    expect(differences(good, terms, fulfiller)).toEqual({});
    const lower = { ...good, from: good.from.toLowerCase(), to: good.to.toLowerCase() };
    expect(differences(lower, terms, fulfiller)).toEqual({});
  });

  it.each([
    ['sender', { from: STRANGER }, fulfiller, STRANGER],
    ['recipient', { to: STRANGER }, terms.requestor, STRANGER],
    ['amount', { value: '12345677' }, '12345678', '12345677'],
    ['reference', { nonce: other }, terms.reference, other],
  ])('differs in the %s that is not of its intent', (name, change, expected, actual) => {
    expect(differences({ ...good, ...change }, terms, fulfiller)).toEqual({ [name]: { expected, actual } });
  });

  it('lives for ten minutes, and never longer than its intent', () => {
    expect(validBefore(1_000n, 10_000_000)).toBe(1_600n);
    expect(validBefore(1_000n, 1_200_999)).toBe(1_200n);
    expect(latestValidBefore(1_000n, 10_000_000)).toBe(1_660n);
    expect(latestValidBefore(1_000n, 1_200_999)).toBe(1_200n);
  });

  it('is of a token whose name and version make its separator, and of no other', () => {
    // What Base's USDC returns.
    const separator = '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f';
    const live = { chain: 'eip155:8453' as typeof terms.chain, tokenAddress: networkUsdc };
    const known = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: networkUsdc };
    expect(domainIn(live, [text('USD Coin'), text('2'), separator])).toEqual(known);
    expect(domainIn(live, [text('USDC'), text('2'), separator])).toBeNull();
    expect(domainIn(live, [text('USD Coin'), '0x', separator])).toBeNull();
    expect(domainIn(live, [text('USD Coin'), text('2'), '0x'])).toBeNull();
  });

  it('is recognized by its functions', () => {
    for (const selector of ['0xcf092995', '0xe3ee160e', '0x88b7ab63', '0xef55bec6'])
      expect(sendsAuthorization(`${selector}00`)).toBe(true);
    expect(sendsAuthorization(calldata)).toBe(false);
  });
});

describe("a signature of a wallet's factory (ERC-6492)", () => {
  const magic: Hex = `0x${'6492'.repeat(16)}`;
  const wrapped = (inner: Hex): Hex =>
    concat([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [STRANGER as Hex, '0x01', inner],
      ),
      magic,
    ]);

  it('has within it what the wallet itself has signed', () => {
    expect(innerSignature(wrapped('0xabcdef'))).toBe('0xabcdef');
  });

  it('is invalid without its last bytes, or with nothing before them', () => {
    expect(innerSignature(`0x${'ab'.repeat(65)}`)).toBeNull();
    expect(innerSignature(magic)).toBeNull();
  });
});

describe('the transfer of an authorization', () => {
  it('is the very next log, of the same token and wallet, whoever sent it', () => {
    const logs = receipt(transferred(), used(), transferred(), transferred());
    expect(authorizedIn(logs)).toEqual(new Map([[9n, terms.reference]]));
  });

  it.each([
    ['another token', receipt(used(), transferred(fulfiller, EURC))],
    ['another wallet', receipt(used(), transferred(STRANGER))],
    ['a later log', receipt(used(), log(USDC, [`0x${'e0'.repeat(32)}`]), transferred())],
    ['an earlier log', receipt(transferred(), used())],
    ['a log of another place', [...receipt(used()), { ...transferred(), logIndex: 9n }]],
    ['no log', receipt(used())],
  ])('is not found in %s', (_where, logs) => {
    expect(authorizedIn(logs)).toEqual(new Map());
  });

  it('is of one nonce each, in a transaction with several', () => {
    const logs = receipt(used(), transferred(), used(other), transferred());
    expect(authorizedIn(logs)).toEqual(
      new Map([
        [8n, terms.reference],
        [10n, other],
      ]),
    );
  });
});
