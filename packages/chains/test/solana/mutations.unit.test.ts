import { createPrivateKey, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import fc from 'fast-check';
import type { Differences } from '../../src/index.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  LIGHTHOUSE_PROGRAM_ADDRESS,
  MEMO_PROGRAM_ADDRESS,
  TOKEN_2022_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from '../../src/solana/programs.ts';
import { accountsOf } from '../../src/solana/payment.ts';
import { decodeSigned } from '../../src/solana/signed-transaction.ts';
import { differences } from '../../src/solana/verify.ts';
import { edited } from '../edits.ts';
import { guard } from './changes.ts';
import { blobFor, fulfiller, payer, solanaToken, termsIn } from './payments.ts';

/*
 * A payer who means ill signs what he likes. What is accepted of it is judged here a second time, in another way and by
 * another library: without guards and compute budget the very instructions that were built have to remain.
 */

const terms = termsIn('USDC');
const accounts = await accountsOf(terms, fulfiller);
const blob = await blobFor(terms);
const good = TransactionMessage.decompile(VersionedTransaction.deserialize(blob).message);
const [, , creation, memo, transfer] = good.instructions;
const thief = Keypair.generate().publicKey;

const hex = (some: Uint8Array): string => Buffer.from(some).toString('hex');
/** An instruction without what is around it: its program, its accounts and its data. */
const told = (program: PublicKey, keys: readonly PublicKey[], data: Uint8Array): string =>
  [program, ...keys].map((one) => hex(one.toBytes())).join() + hex(data);
const wanted = [creation, memo, transfer].map(
  (one) =>
    one &&
    told(
      one.programId,
      one.keys.map(({ pubkey }) => pubkey),
      one.data,
    ),
);

const [wantedCreation, wantedMemo, wantedTransfer] = wanted;
/** As MPP's clients pay: without the reference account, the memo alone names the intent. */
const bare =
  transfer &&
  told(
    transfer.programId,
    transfer.keys.slice(0, 4).map(({ pubkey }) => pubkey),
    transfer.data,
  );
const payments = [
  [wantedMemo, wantedTransfer],
  [wantedMemo, bare],
  [bare, wantedMemo],
].flatMap((all) => [all.join(), [wantedCreation, ...all].join()]);

const LIGHTHOUSE = new PublicKey(LIGHTHOUSE_PROGRAM_ADDRESS);
const BUDGET = ComputeBudgetProgram.programId;
const REFERENCE = new PublicKey(terms.reference);

/** Whether a message pays exactly these terms and does nothing else. */
function isPayment(message: VersionedMessage): boolean {
  const { header, staticAccountKeys: keys, addressTableLookups, compiledInstructions } = message;
  if (
    message.version !== 0 ||
    addressTableLookups.length > 0 ||
    header.numRequiredSignatures !== 1 ||
    keys[0]?.equals(payer.publicKey) !== true
  )
    return false;
  const used = new Set([
    0,
    ...compiledInstructions.flatMap(({ programIdIndex, accountKeyIndexes }) => [programIdIndex, ...accountKeyIndexes]),
  ]);
  if (used.size !== keys.length) return false;
  const rest: string[] = [];
  const seen = { guards: 0, limits: 0, prices: 0 };
  let [units, price] = [200_000 * compiledInstructions.length, 0n];
  for (const { programIdIndex, accountKeyIndexes: places, data } of compiledInstructions) {
    const program = keys[programIdIndex] ?? thief;
    const bytes = Buffer.from(data);
    const [kind = 0] = bytes;
    if (program.equals(LIGHTHOUSE) && kind > 1 && kind < 18) seen.guards += 1;
    else if (program.equals(BUDGET) && places.length === 0 && kind === 2 && bytes.length === 5)
      [seen.limits, units] = [seen.limits + 1, bytes.readUInt32LE(1)];
    else if (program.equals(BUDGET) && places.length === 0 && kind === 3 && bytes.length === 9)
      [seen.prices, price] = [seen.prices + 1, bytes.readBigUInt64LE(1)];
    else
      rest.push(
        told(
          program,
          places.map((one) => keys[one] ?? thief),
          data,
        ),
      );
  }
  if (seen.limits > 1 || seen.prices > 1 || seen.guards > 4) return false;
  // Lamports for the priority, rounded up, and the signature's: 0.01 SOL at most.
  if ((BigInt(Math.min(units, 1_400_000)) * price + 999_999n) / 1_000_000n + 5_000n > 10_000_000n) return false;
  const named = keys.findIndex((one) => one.equals(REFERENCE));
  if (named >= 0 && message.isAccountWritable(named)) return false;
  return payments.includes(rest.join());
}

async function judge(raw: Uint8Array): Promise<Differences | null> {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) return null;
  // What is read is read whole: another library writes the same bytes.
  expect(Buffer.from(VersionedTransaction.deserialize(raw).serialize()).equals(raw)).toBe(true);
  return differences(decoded.value, terms, fulfiller);
}

const addresses = [
  thief,
  payer.publicKey,
  new PublicKey(solanaToken('PYUSD').address),
  ...Object.values(accounts).map((one) => new PublicKey(String(one))),
  SystemProgram.programId,
  ...[
    TOKEN_2022_PROGRAM_ADDRESS,
    MEMO_PROGRAM_ADDRESS,
    ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
    LIGHTHOUSE_PROGRAM_ADDRESS,
  ].map((one) => new PublicKey(one)),
];
const address = fc.constantFrom(...addresses);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((some) => Buffer.from(some));
const meta = fc
  .record({ pubkey: address, isWritable: fc.boolean() })
  .map((key) => ({ ...key, isSigner: key.pubkey.equals(payer.publicKey) }));
const key = (pubkey: PublicKey | string, isWritable = false) => ({
  pubkey: new PublicKey(pubkey),
  isSigner: new PublicKey(pubkey).equals(payer.publicKey),
  isWritable,
});
const ofToken = (data: readonly number[], ...keys: ReturnType<typeof key>[]): TransactionInstruction =>
  new TransactionInstruction({ programId: new PublicKey(TOKEN_PROGRAM_ADDRESS), keys, data: Buffer.from(data) });
const many = [64, 66, 15, 0, 0, 0, 0, 0];

/** What a malicious payer might add to a payment: each has an effect of its own, or looks harmless. */
const foreign: fc.Arbitrary<TransactionInstruction> = fc.oneof(
  fc.constantFrom(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: thief, lamports: 1 }),
    SystemProgram.nonceAdvance({ noncePubkey: thief, authorizedPubkey: payer.publicKey }),
    SystemProgram.assign({ accountPubkey: payer.publicKey, programId: thief }),
    ofToken([3, ...many], key(accounts.source, true), key(accounts.destination, true), key(fulfiller)),
    ofToken([4, ...many], key(accounts.source, true), key(thief), key(fulfiller)),
    ofToken([6, 2, 1, ...thief.toBytes()], key(accounts.source, true), key(fulfiller)),
    ofToken([9], key(accounts.source, true), key(thief, true), key(fulfiller)),
    ofToken([8, ...many], key(accounts.source, true), key(accounts.mint, true), key(fulfiller)),
    ofToken([12, ...many, 6], key(accounts.source, true), key(accounts.mint), key(thief, true), key(fulfiller)),
    ofToken(
      [12, ...many, 6],
      key(accounts.source, true),
      key(accounts.mint),
      key(accounts.destination, true),
      key(fulfiller),
      key(accounts.reference),
    ),
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
    ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 }),
  ),
  fc.tuple(address, bytes).map(([programId, data]) => new TransactionInstruction({ programId, keys: [], data })),
  fc
    .tuple(fc.nat(24), fc.array(meta, { maxLength: 3 }))
    .map(([kind, keys]) => new TransactionInstruction({ ...guard(thief, kind), keys })),
  fc.tuple(fc.nat(4), fc.nat(9), fc.array(meta, { maxLength: 2 })).map(
    ([kind, length, keys]) =>
      new TransactionInstruction({
        programId: ComputeBudgetProgram.programId,
        keys,
        data: Buffer.concat([Buffer.of(kind), Buffer.alloc(length, 1)]),
      }),
  ),
);

type Edit = (instructions: readonly TransactionInstruction[]) => readonly TransactionInstruction[];
const place = fc.nat(9);
const at = (list: readonly unknown[], index: number): number => (list.length === 0 ? 0 : index % list.length);
const change =
  (index: number, changed: (one: TransactionInstruction) => Partial<TransactionInstruction>): Edit =>
  (list) =>
    list.map((one, index_) =>
      index_ === at(list, index) ? new TransactionInstruction({ ...one, ...changed(one) }) : one,
    );

/** Every field of an instruction changed to anything, and instructions put in, left out, repeated and moved. */
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(place, address).map(([index, programId]) => change(index, () => ({ programId }))),
  fc
    .tuple(place, place, meta)
    .map(([index, which, to]) =>
      change(index, ({ keys }) => ({ keys: keys.map((one, index_) => (index_ === at(keys, which) ? to : one)) })),
    ),
  fc
    .tuple(place, place, meta)
    .map(([index, which, added]) => change(index, ({ keys }) => ({ keys: keys.toSpliced(which, 0, added) }))),
  fc
    .tuple(place, place)
    .map(([index, which]) => change(index, ({ keys }) => ({ keys: keys.toSpliced(at(keys, which), 1) }))),
  fc.tuple(place, place, place).map(([index, one, other]) =>
    change(index, ({ keys }) => ({
      keys: keys.map(
        (_key, index_) =>
          keys[
            index_ === at(keys, one) ? at(keys, other) : index_ === at(keys, other) ? at(keys, one) : index_
          ] as (typeof keys)[number],
      ),
    })),
  ),
  fc.tuple(place, place).map(([index, which]) =>
    change(index, ({ keys }) => ({
      keys: keys.map((one, index_) => (index_ === at(keys, which) ? { ...one, isWritable: !one.isWritable } : one)),
    })),
  ),
  fc.tuple(place, fc.nat(60), fc.integer({ min: 1, max: 255 })).map(([index, which, xor]) =>
    change(index, ({ data }) => ({
      data: Buffer.from(data.map((byte, index_) => (index_ === at([...data], which) ? byte ^ xor : byte))),
    })),
  ),
  fc
    .tuple(place, fc.nat(60), bytes)
    .map(([index, which, added]) =>
      change(index, ({ data }) => ({ data: Buffer.concat([data.subarray(0, which), added, data.subarray(which)]) })),
    ),
  fc.tuple(place, fc.nat(60)).map(([index, end]) => change(index, ({ data }) => ({ data: data.subarray(0, end) }))),
  place.map(
    (index): Edit =>
      (list) =>
        list.toSpliced(at(list, index), 1),
  ),
  fc.tuple(place, place).map(
    ([index, to]): Edit =>
      (list) =>
        list.toSpliced(to, 0, ...list.slice(at(list, index), at(list, index) + 1)),
  ),
  fc.tuple(place, place).map(
    ([index, to]): Edit =>
      (list) =>
        list.toSpliced(at(list, index), 1).toSpliced(to, 0, ...list.slice(at(list, index), at(list, index) + 1)),
  ),
  fc.tuple(place, foreign).map(
    ([to, one]): Edit =>
      (list) =>
        list.toSpliced(to, 0, one),
  ),
);

const KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), payer.secretKey.subarray(0, 32)]),
  format: 'der',
  type: 'pkcs8',
});
const compiled = (instructions: readonly TransactionInstruction[]): Uint8Array =>
  new TransactionMessage({ ...good, instructions: [...instructions] }).compileToV0Message().serialize();
/** The message with the payer's own signature, whatever it says. */
const resigned = (message: Uint8Array): Uint8Array => Uint8Array.from([1, ...sign(null, message, KEY), ...message]);

describe('Solana verify › a malicious payer', () => {
  it('cannot change instructions unless the transaction pays the same and does nothing else', async () => {
    let [accepted, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        let raw: Uint8Array;
        try {
          raw = resigned(
            compiled(edits.reduce((list, one) => one(list), good.instructions as readonly TransactionInstruction[])),
          );
        } catch {
          // Too many bytes for a transaction, or no instruction left that names the payer: web3.js makes none of it.
          return fc.pre(false);
        }
        const differs = await judge(raw);
        const isAccepted = differs !== null && Object.keys(differs).length === 0;
        expect(isAccepted).toBe(isPayment(VersionedTransaction.deserialize(raw).message));
        if (isAccepted) accepted += 1;
        else refused += 1;
      }),
      { numRuns: 1_500 },
    );
    // Both happen: guards and budgets come and go.
    expect(accepted).toBeGreaterThan(30);
    expect(refused).toBeGreaterThan(500);
  });

  it('cannot change bytes unless the transaction pays the same and does nothing else', async () => {
    const message = blob.subarray(65);
    let [accepted, read] = [0, 0];
    await fc.assert(
      fc.asyncProperty(edited(message), async (changed) => {
        const raw = resigned(changed);
        const differs = await judge(raw);
        if (differs === null) return;
        read += 1;
        if (Object.keys(differs).length > 0) return;
        accepted += 1;
        expect(isPayment(VersionedTransaction.deserialize(raw).message)).toBe(true);
      }),
      { numRuns: 2_500 },
    );
    // Many changes of a message are messages; of those, another blockhash and another price pay the same.
    expect(read).toBeGreaterThan(300);
    expect(accepted).toBeGreaterThan(10);
  });

  it('learns the name of each part of the transfer that differs, whatever replaces it', async () => {
    const names = ['source', 'token', 'recipient', 'authority', 'reference'];
    const isTransfer = ({ data }: TransactionInstruction): boolean =>
      data.equals((transfer as TransactionInstruction).data);
    const parts = fc.oneof(
      fc.tuple(fc.nat(4), address).map(
        ([which, to]) =>
          [
            names[which] ?? '',
            (one: TransactionInstruction) => ({
              keys: one.keys.map((was, index) => (index === which ? { ...key(to), isWritable: was.isWritable } : was)),
            }),
          ] as const,
      ),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(
        (amount) =>
          [
            'amount',
            ({ data }: TransactionInstruction) => ({
              data: Buffer.concat([
                data.subarray(0, 1),
                Buffer.from(BigUint64Array.of(amount).buffer),
                data.subarray(9),
              ]),
            }),
          ] as const,
      ),
      fc.nat(255).map(
        (decimals) =>
          [
            'decimals',
            ({ data }: TransactionInstruction) => ({
              data: Buffer.concat([data.subarray(0, 9), Buffer.of(decimals)]),
            }),
          ] as const,
      ),
    );
    await fc.assert(
      fc.asyncProperty(parts, async ([name, changed]) => {
        const message = compiled(
          good.instructions.map((one) =>
            isTransfer(one) ? new TransactionInstruction({ ...one, ...changed(one) }) : one,
          ),
        );
        fc.pre(!isPayment(VersionedMessage.deserialize(message)));
        expect(await judge(resigned(message))).toHaveProperty([name]);
      }),
      { numRuns: 200 },
    );
  });
});
