import { describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, TransactionHash } from '@pf/domain';
import { type Address, getBase58Decoder } from '@solana/kit';
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  type TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { networkOf } from '../../../src/index.ts';
import { Watched } from '../../conformance/watching.ts';
import { randomAddress, randomReference } from '../../../src/solana/address.ts';
import { proposedPrice } from '../../../src/solana/fees.ts';
import { landingsIn, namesIn, type Payments, problemIn } from '../../../src/solana/observe/landings.ts';
import { recallNamed } from '../../../src/solana/observe/lookups.ts';
import { type Reading, readTransaction } from '../../../src/solana/observe/reading.ts';
import { accountsOf } from '../../../src/solana/payment.ts';
import { reasonOf } from '../../../src/solana/refusal.ts';
import { decodeSigned } from '../../../src/solana/signed-transaction.ts';
import { blobFor, DEVNET, fulfiller, payer, signedBy, termsIn } from '../payments.ts';

const network = networkOf(DEVNET);
const terms = termsIn('USDC');
const watch = new Watched();
watch.add('pi_test', terms);

interface Balance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly uiTokenAmount: { readonly amount: string };
}
interface Meta {
  readonly err: unknown;
  readonly fee?: number;
  readonly preTokenBalances: readonly Balance[];
  readonly postTokenBalances: readonly Balance[];
  readonly innerInstructions?: readonly unknown[];
  readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
}
/** As a node shows it. */
interface Shown {
  readonly slot: number;
  readonly transaction: readonly [string, 'base64'];
  readonly meta: Meta;
}
const hashOf = (raw: Uint8Array): TransactionHash => {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.value.hash;
};
/** The transaction as a node shows it once it has landed: who owns which account is told by its balances. */
async function landed(raw: Uint8Array, of: PaymentTerms, meta: Partial<Meta> = {}): Promise<Shown> {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) throw new Error(decoded.problem);
  const { source, destination, mint } = await accountsOf(of, fulfiller);
  const all = [
    ...(decoded.value.accounts as readonly string[]),
    ...(meta.loadedAddresses?.writable ?? []),
    ...(meta.loadedAddresses?.readonly ?? []),
  ];
  const balance = (account: Address, owner: string, amount: bigint): Balance => ({
    accountIndex: all.indexOf(account),
    mint,
    owner,
    uiTokenAmount: { amount: String(amount) },
  });
  return {
    slot: 7,
    transaction: [Buffer.from(raw).toString('base64'), 'base64'],
    meta: {
      err: null,
      preTokenBalances: [balance(source, fulfiller, 2n * of.amount)],
      postTokenBalances: [balance(source, fulfiller, of.amount), balance(destination, of.requestor, of.amount)],
      ...meta,
    },
  };
}
/** The same where less has arrived in the requestor's account than was sent. */
async function withheld(raw: Uint8Array, of: PaymentTerms, units: bigint): Promise<Shown> {
  const { meta, ...shown } = await landed(raw, of);
  const [source, destination] = meta.postTokenBalances;
  if (!source || !destination) throw new Error('no balances');
  const amount = String(BigInt(destination.uiTokenAmount.amount) - units);
  return {
    ...shown,
    meta: { ...meta, postTokenBalances: [source, { ...destination, uiTokenAmount: { amount } }] },
  };
}
/** What is judged of it; the problem where it cannot be. */
function read(shown: Shown, hash = hashOf(Buffer.from(shown.transaction[0], 'base64'))): Payments | string {
  const reading = readTransaction(hash, shown);
  if (!reading.ok) return reading.problem;
  void watch.recall(namesIn(reading.value));
  return landingsIn(reading.value, network, watch);
}
/** The transfer with another amount and reference. */
function sending(transfer: TransactionInstruction, amount: bigint, reference: string): TransactionInstruction {
  const data = Buffer.from(transfer.data);
  data.writeBigUInt64LE(amount, 1);
  const keys = transfer.keys.map((key, place) => (place === 4 ? { ...key, pubkey: new PublicKey(reference) } : key));
  return new TransactionInstruction({ ...transfer, keys, data });
}
const paid = (index: string) => [
  {
    type: 'landed',
    intentId: 'pi_test',
    data: {
      level: 'confirmed',
      transfer: {
        tokenAddress: terms.tokenAddress,
        from: fulfiller,
        to: terms.requestor,
        amount: terms.amount,
        reference: terms.reference,
        block: 7n,
        index,
      },
    },
  },
];

describe('Solana landings', () => {
  it('come from transferChecked, with the index of the instruction', async () => {
    expect(read(await landed(signedBy(await blobFor(terms)), terms))).toMatchObject({
      landings: paid('4'),
      warnings: [],
    });
  });

  it('have the fee of their transaction, which its first signer paid, where the node tells it', async () => {
    const raw = signedBy(await blobFor(terms));
    expect(read(await landed(raw, terms, { fee: 5_020 }))).toMatchObject({
      landings: [{ data: { fee: { payer: fulfiller, amount: 5_020n, tokenAddress: null } } }],
    });
    const told = read(await landed(raw, terms));
    expect(typeof told === 'string' ? told : told.landings[0]?.data).not.toHaveProperty('fee');
  });

  it('come from a plain transfer, with the token that the chain recorded for its accounts', async () => {
    const plain = signedBy(await blobFor(terms), (instructions) =>
      instructions.map((one) =>
        one.data[0] === 12
          ? new TransactionInstruction({
              ...one,
              keys: one.keys.filter((_key, place) => place !== 1),
              data: Buffer.concat([Buffer.of(3), one.data.subarray(1, 9)]),
            })
          : one,
      ),
    );
    const other = networkOf(DEVNET).tokens.find(({ address }) => address !== terms.tokenAddress)
      ?.address as string as Address;
    const shown = await landed(plain, terms);
    expect(read(shown)).toMatchObject({ landings: paid('4'), warnings: [] });
    const balances = shown.meta.postTokenBalances.map((balance) => ({ ...balance, mint: other }));
    expect(read({ ...shown, meta: { err: null, preTokenBalances: [], postTokenBalances: balances } })).toMatchObject({
      landings: [{ data: { transfer: { tokenAddress: other } } }],
    });
    expect(read({ ...shown, meta: { err: null, preTokenBalances: [], postTokenBalances: [] } })).toMatchObject({
      landings: [],
    });
  });

  it('count what the requestor was credited, and not what the token withheld', async () => {
    const paidIn = (symbol: string) => {
      const its = termsIn(symbol);
      watch.add(`pi_${symbol}`, its);
      return its;
    };
    const dollars = paidIn('PYUSD');
    expect(read(await withheld(signedBy(await blobFor(dollars)), dollars, 123_456n))).toMatchObject({
      landings: [{ intentId: 'pi_PYUSD', data: { transfer: { amount: dollars.amount - 123_456n } } }],
    });
    // Two in one transaction: the part of each is in proportion to what was sent.
    const [large, small] = [paidIn('PYUSD'), randomReference()];
    const twice = signedBy(await blobFor(large), (instructions) =>
      instructions.flatMap((one) => (one.data[0] === 12 ? [one, sending(one, large.amount / 4n, small)] : [one])),
    );
    const both = { ...large, amount: large.amount + large.amount / 4n };
    watch.add('pi_small', { ...large, reference: small });
    expect(read(await withheld(twice, both, 50_001n))).toMatchObject({
      landings: [
        { data: { transfer: { amount: large.amount - 40_001n } } },
        { intentId: 'pi_small', data: { transfer: { amount: large.amount / 4n - 10_000n } } },
      ],
    });
    watch.drop({ ...large, reference: small });
    watch.add('pi_PYUSD', large);
    // Where only one of them is for an intent, the other one has arrived in full.
    expect(read(await withheld(twice, both, 50_001n))).toMatchObject({
      landings: [{ intentId: 'pi_PYUSD', data: { transfer: { amount: large.amount - 50_001n } } }],
    });
    // The program of the other tokens withholds nothing: what is missing went on.
    const coins = paidIn('USDC');
    expect(read(await withheld(signedBy(await blobFor(coins)), coins, 5n))).toMatchObject({
      landings: [{ data: { transfer: { amount: coins.amount - 5n } } }],
    });
  });

  it('are empty for a failed transaction, and none can be read of another than the requested one', async () => {
    const raw = signedBy(await blobFor(terms));
    expect(read(await landed(raw, terms, { err: 'InsufficientFundsForFee' }))).toEqual({ landings: [], warnings: [] });
    const other = hashOf(signedBy(await blobFor(termsIn('USDC'))));
    expect(read(await landed(raw, terms), other)).toBe(`it is another transaction, ${hashOf(raw)}`);
  });

  it('include transfers called by another program, with their index within the caller', async () => {
    // A wallet's program that does the transfer itself: the instruction is nowhere in the message.
    const raw = signedBy(await blobFor(terms), (instructions) => {
      const transfer = instructions.at(-1);
      return transfer === undefined
        ? []
        : [
            new TransactionInstruction({
              programId: new PublicKey(randomAddress()),
              keys: [...transfer.keys, { pubkey: transfer.programId, isSigner: false, isWritable: false }],
              data: Buffer.of(1),
            }),
          ];
    });
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    const { source, mint, destination, payer: authority, reference, tokenProgram } = await accountsOf(terms, fulfiller);
    const place = (account: Address): number => decoded.value.accounts.indexOf(account);
    const data = Buffer.alloc(10);
    data[0] = 12;
    data.writeBigUInt64LE(terms.amount, 1);
    data[9] = 6;
    const inner = {
      programIdIndex: place(tokenProgram),
      accounts: [source, mint, destination, authority, reference].map(place),
      data: getBase58Decoder().decode(data),
    };
    expect(read(await landed(raw, terms, { innerInstructions: [{ index: 0, instructions: [inner] }] }))).toMatchObject({
      landings: paid('0.0'),
    });
    expect(read(await landed(raw, terms))).toEqual({ landings: [], warnings: [] });
  });

  it('take nothing of what a program pays, where its caller has named an intent for that, too', () => {
    const [mine, theirs] = [{ ...terms, reference: randomReference() }, randomReference()];
    watch.add('pi_mine', mine);
    watch.add('pi_theirs', { ...terms, reference: theirs });
    const held = (owner: string, amount: bigint) => ({ mint: terms.tokenAddress, owner, amount });
    const moved = (index: string, source: number, destination: number, amount: bigint, names: readonly string[]) => ({
      index,
      source,
      destination,
      authority: fulfiller,
      amount,
      names,
      isProven: !index.includes('.'),
    });
    // The payer's account 2 is filled, emptied and given to the requestor; then the program of vault 3 pays into it.
    const reading = {
      hash: 'hash',
      slot: 7n,
      failure: null,
      fee: null,
      transfers: [
        moved('0', 1, 2, 1_000n * mine.amount, [mine.reference]),
        moved('1', 2, 1, 1_000n * mine.amount, []),
        moved('3.0', 3, 2, mine.amount, [theirs]),
      ],
      opaque: new Set(),
      opaqueNames: new Set(),
      before: new Map([
        [1, held(fulfiller, 1_000n * mine.amount)],
        [3, held('vault', mine.amount)],
      ]),
      after: new Map([
        [1, held(fulfiller, 1_000n * mine.amount)],
        [2, held(terms.requestor, mine.amount)],
      ]),
    } as unknown as Reading;
    void watch.recall(namesIn(reading));
    expect(landingsIn(reading, network, watch).landings.map(({ intentId }) => intentId)).toEqual(['pi_theirs']);
  });

  it('are read through a lookup table, and from a legacy transaction', async () => {
    const { reference } = await accountsOf(terms, fulfiller);
    const table = new AddressLookupTableAccount({
      key: new PublicKey(randomAddress()),
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [new PublicKey(reference)],
      },
    });
    const tabled = signedBy(await blobFor(terms), {
      rewrite: (message) => new VersionedTransaction(message.compileToV0Message([table])),
    });
    expect(
      read(await landed(tabled, terms, { loadedAddresses: { writable: [], readonly: [reference] } })),
    ).toMatchObject({ landings: paid('4') });
    const legacy = signedBy(await blobFor(terms), {
      rewrite: (message: TransactionMessage) => new VersionedTransaction(message.compileToLegacyMessage()),
    });
    expect(read(await landed(legacy, terms))).toMatchObject({ landings: paid('4') });
  });

  it('ignore a transfer with two references, with a warning where one of them is watched', async () => {
    const twice = (other: string) => (instructions: readonly TransactionInstruction[]) =>
      instructions.map((one) =>
        one.data[0] === 12
          ? new TransactionInstruction({
              ...one,
              keys: [...one.keys, { pubkey: new PublicKey(other), isSigner: false, isWritable: false }],
            })
          : one,
      );
    expect(read(await landed(signedBy(await blobFor(terms), twice(randomAddress())), terms))).toMatchObject({
      landings: [],
      warnings: [expect.stringContaining('2 references')],
    });
    const strange = termsIn('USDC');
    expect(read(await landed(signedBy(await blobFor(strange), twice(randomAddress())), strange))).toEqual({
      landings: [],
      warnings: [],
    });
  });

  it('are looked up once, however often calls name the same accounts', async () => {
    const raw = signedBy(await blobFor(terms));
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    const { accounts } = decoded.value;
    const { source, destination, mint, tokenProgram, payer: authority } = await accountsOf(terms, fulfiller);
    const strangers = Array.from({ length: 128 - accounts.length }, () => randomAddress() as string as Address);
    const place = (account: Address): number => [...accounts, ...strangers].indexOf(account);
    const names = Array.from({ length: 251 }, (_, at) => place(strangers[at % strangers.length] as Address));
    // As many calls as a transaction can make, each with as many accounts as a call can have.
    const calling = (data: Uint8Array) => ({
      programIdIndex: place(tokenProgram),
      accounts: [...[source, mint, destination, authority].map(place), ...names],
      data: getBase58Decoder().decode(data),
    });
    const instructions = Array.from({ length: 63 }, () => calling(Uint8Array.of(12, 1, 0, 0, 0, 0, 0, 0, 0, 6)));
    const unknown = calling(Uint8Array.of(255));
    const shown = await landed(raw, terms, {
      innerInstructions: [{ index: 0, instructions: [unknown, ...instructions] }],
      loadedAddresses: { writable: [], readonly: strangers },
    });
    const reading = readTransaction(hashOf(raw), shown);
    if (!reading.ok) throw new Error(reading.problem);
    const recalled: string[] = [];
    const watching = new Watched();
    watching.add('pi_test', terms);
    const recall = jest.spyOn(watching, 'recall').mockImplementation((all) => {
      recalled.push(...all);
      return Promise.resolve();
    });
    await recallNamed(watching, [reading.value, null]);
    recall.mockRestore();
    expect(recalled.length).toBeLessThanOrEqual(128);
    await watching.recall(recalled);
    const asked = jest.spyOn(watching, 'byReference');
    problemIn(reading.value, network, watching);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(128);
    asked.mockClear();
    landingsIn(reading.value, network, watching);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(128);
  });

  it('are warned of once in a transaction, however many of its transfers have several', async () => {
    const several = (instructions: readonly TransactionInstruction[]) =>
      instructions.flatMap((one) => {
        const keys = [...one.keys, { pubkey: new PublicKey(randomAddress()), isSigner: false, isWritable: false }];
        return one.data[0] === 12
          ? Array<TransactionInstruction>(3).fill(new TransactionInstruction({ ...one, keys }))
          : [one];
      });
    const raw = signedBy(await blobFor(terms), several);
    expect(read(await landed(raw, terms))).toEqual({
      landings: [],
      warnings: [`transfer 4 of ${hashOf(raw)} carries 2 references, among them that of pi_test: it is ignored`],
    });
  });

  it('count once where a transfer has the same reference twice', async () => {
    const twice = (instructions: readonly TransactionInstruction[]) =>
      instructions.map((one) =>
        one.data[0] === 12 ? new TransactionInstruction({ ...one, keys: [...one.keys, ...one.keys.slice(-1)] }) : one,
      );
    expect(read(await landed(signedBy(await blobFor(terms), twice), terms))).toMatchObject({ landings: paid('4') });
  });

  it('come from the only memo where the only transfer has no reference, and from nothing less certain', async () => {
    const blob = await blobFor(terms);
    const bare = (one: TransactionInstruction) =>
      one.data[0] === 12 ? new TransactionInstruction({ ...one, keys: one.keys.slice(0, 4) }) : one;
    const change = (add: (all: readonly TransactionInstruction[]) => readonly TransactionInstruction[]) =>
      signedBy(blob, (instructions) => add(instructions.map(bare)));
    expect(
      read(
        await landed(
          change((all) => all),
          terms,
        ),
      ),
    ).toMatchObject({ landings: paid('4'), warnings: [] });
    const uncertain = [
      change((all) => all.filter((_one, place) => place !== 3)),
      change((all) => [...all, ...all.slice(3, 4)]),
      change((all) => [...all, ...all.slice(4)]),
    ];
    for (const raw of uncertain) expect(read(await landed(raw, terms))).toEqual({ landings: [], warnings: [] });
  });

  it('do not mistake the signers of a multisig for references', async () => {
    const raw = signedBy(await blobFor(terms), (instructions) =>
      instructions.map((one) =>
        one.data[0] === 12
          ? new TransactionInstruction({
              ...one,
              keys: [
                ...one.keys.slice(0, 4),
                { pubkey: payer.publicKey, isSigner: true, isWritable: false },
                ...one.keys.slice(4),
              ],
            })
          : one,
      ),
    );
    expect(read(await landed(raw, terms))).toMatchObject({ landings: paid('4') });
  });
});

describe('Solana prices and refusals', () => {
  it('proposes a price at the 75th percentile, within bounds', () => {
    const recent = (...fees: bigint[]) => fees.map((prioritizationFee) => ({ prioritizationFee }));
    expect(proposedPrice(recent(8_000n, 5_000n, 6_000n, 7_000n))).toBe(8_000n);
    expect(proposedPrice(recent(0n, 0n, 0n, 0n))).toBe(1_000n);
    expect(proposedPrice([])).toBe(1_000n);
    expect(proposedPrice(recent(10n ** 12n, 10n ** 12n))).toBe(2_000_000n);
  });

  it('explains why a transaction fails', async () => {
    const { tokenProgram } = await accountsOf(terms, fulfiller);
    expect(reasonOf('BlockhashNotFound', [])).toBe('the blockhash has expired');
    expect(reasonOf({ InstructionError: [1, { Custom: 1 }] }, [undefined, tokenProgram])).toBe(
      'insufficient funds: the payer holds too few tokens (instruction 1)',
    );
    expect(reasonOf({ InstructionError: [0, { Custom: 17 }] }, [tokenProgram])).toBe(
      'a token account is frozen (instruction 0)',
    );
    expect(reasonOf({ InsufficientFundsForRent: { account_index: 0 } }, [])).toContain('too little SOL to exist');
    expect(reasonOf({ InstructionError: [3, 'SomethingNew'] }, [])).toBe('SomethingNew (instruction 3)');
    expect(reasonOf({ SomethingElse: 1 }, [])).toBe('SomethingElse');
  });
});
