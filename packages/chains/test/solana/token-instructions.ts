import { VAULT_SEED } from '@pf/testing/chains';
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  MEMO_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from '../../src/solana/programs.ts';

/** The instructions of the token programs, as whoever wants to may put them together. */
const TOKEN = new PublicKey(TOKEN_PROGRAM_ADDRESS);
const ASSOCIATED = new PublicKey(ASSOCIATED_TOKEN_PROGRAM_ADDRESS);

type Key = TransactionInstruction['keys'][number];
const key = (pubkey: PublicKey, isSigner = false, isWritable = false): Key => ({ pubkey, isSigner, isWritable });
export const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};
export const ACCOUNT_BYTES = 165;
export const MINT_BYTES = 82;

export const associatedOf = (owner: PublicKey, mint: PublicKey, program = TOKEN): PublicKey =>
  PublicKey.findProgramAddressSync([owner.toBytes(), program.toBytes(), mint.toBytes()], ASSOCIATED)[0];

export const memo = (text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: new PublicKey(MEMO_PROGRAM_ADDRESS), keys: [], data: Buffer.from(text) });

/** A multisig and those of its members who sign; or the one who owns what is moved. */
type Authority = PublicKey | { readonly multisig: PublicKey; readonly signers: readonly PublicKey[] };
const authorized = (by: Authority): Key[] =>
  'multisig' in by ? [key(by.multisig), ...by.signers.map((one) => key(one, true))] : [key(by, true)];

/** Instructions of one token program. */
export function tokenInstructions(programId: PublicKey = TOKEN) {
  const made = (data: readonly Uint8Array[], ...keys: readonly Key[]): TransactionInstruction =>
    new TransactionInstruction({ programId, keys: [...keys], data: Buffer.concat(data) });
  return {
    transfer: (from: PublicKey, to: PublicKey, units: bigint, by: Authority, references: readonly PublicKey[] = []) =>
      made(
        [Buffer.of(3), u64(units)],
        key(from, false, true),
        key(to, false, true),
        ...authorized(by),
        ...references.map((one) => key(one)),
      ),
    checked: (
      from: PublicKey,
      to: PublicKey,
      mint: PublicKey,
      units: bigint,
      by: Authority,
      references: readonly PublicKey[] = [],
      more: Uint8Array = Buffer.of(),
    ) =>
      made(
        [Buffer.of(12), u64(units), Buffer.of(6), more],
        key(from, false, true),
        key(mint),
        key(to, false, true),
        ...authorized(by),
        ...references.map((one) => key(one)),
      ),
    /** TransferCheckedWithFee. */
    withFee: (
      from: PublicKey,
      to: PublicKey,
      mint: PublicKey,
      units: bigint,
      fee: bigint,
      by: PublicKey,
      references: readonly PublicKey[] = [],
    ) =>
      made(
        [Buffer.of(26, 1), u64(units), Buffer.of(6), u64(fee)],
        key(from, false, true),
        key(mint),
        key(to, false, true),
        key(by, true),
        ...references.map((one) => key(one)),
      ),
    mintTo: (mint: PublicKey, to: PublicKey, units: bigint, by: PublicKey) =>
      made([Buffer.of(7), u64(units)], key(mint, false, true), key(to, false, true), key(by, true)),
    burn: (from: PublicKey, mint: PublicKey, units: bigint, by: PublicKey) =>
      made([Buffer.of(8), u64(units)], key(from, false, true), key(mint, false, true), key(by, true)),
    approve: (account: PublicKey, delegate: PublicKey, units: bigint, by: PublicKey) =>
      made([Buffer.of(4), u64(units)], key(account, false, true), key(delegate), key(by, true)),
    close: (account: PublicKey, to: PublicKey, by: PublicKey) =>
      made([Buffer.of(9)], key(account, false, true), key(to, false, true), key(by, true)),
    freeze: (account: PublicKey, mint: PublicKey, by: PublicKey) =>
      made([Buffer.of(10)], key(account, false, true), key(mint), key(by, true)),
    thaw: (account: PublicKey, mint: PublicKey, by: PublicKey) =>
      made([Buffer.of(11)], key(account, false, true), key(mint), key(by, true)),
    /** @param kind 2: the owner; 3: who may close it */
    setAuthority: (account: PublicKey, kind: 2 | 3, to: PublicKey, by: PublicKey) =>
      made([Buffer.of(6, kind, 1), to.toBytes()], key(account, false, true), key(by, true)),
    initialize: (account: PublicKey, mint: PublicKey, owner: PublicKey) =>
      made([Buffer.of(18), owner.toBytes()], key(account, false, true), key(mint)),
    initializeMint: (mint: PublicKey, authority: PublicKey) =>
      made([Buffer.of(20, 6), authority.toBytes(), Buffer.of(0)], key(mint, false, true)),
    /** Any number of members; so many have to sign. */
    initializeMultisig: (multisig: PublicKey, members: readonly PublicKey[], needed: number) =>
      made([Buffer.of(19, needed)], key(multisig, false, true), ...members.map((one) => key(one))),
    /** Several instructions in one, of which the chain records no inner ones (p-token). */
    batch: (all: readonly TransactionInstruction[]) =>
      made(
        [Buffer.of(255), ...all.flatMap(({ keys, data }) => [Buffer.of(keys.length, data.length), data])],
        ...all.flatMap(({ keys }) => keys),
      ),
    createAssociated: (payer: PublicKey, owner: PublicKey, mint: PublicKey) =>
      new TransactionInstruction({
        programId: ASSOCIATED,
        data: Buffer.of(1),
        keys: [
          key(payer, true, true),
          key(associatedOf(owner, mint, programId), false, true),
          key(owner),
          key(mint),
          key(SystemProgram.programId),
          key(programId),
        ],
      }),
    create: (payer: PublicKey, account: PublicKey, space: number, lamports: number) =>
      SystemProgram.createAccount({ fromPubkey: payer, newAccountPubkey: account, space, lamports, programId }),
  };
}

/** The vault of a forwarder, and what makes it sign. */
export function vaultOf(program: PublicKey): { readonly vault: PublicKey; readonly bump: number } {
  const known = vaults.get(program);
  if (known !== undefined) return known;
  const [vault, bump] = PublicKey.findProgramAddressSync([Buffer.from(VAULT_SEED)], program);
  vaults.set(program, { vault, bump });
  return { vault, bump };
}
const vaults = new WeakMap<PublicKey, { readonly vault: PublicKey; readonly bump: number }>();

/** The instruction as a call of a forwarder, whose vault signs where it is named as a signer. */
export function forwarded(
  program: PublicKey,
  { programId, keys, data }: TransactionInstruction,
): TransactionInstruction {
  const { vault, bump } = vaultOf(program);
  return new TransactionInstruction({
    programId: program,
    keys: [
      key(programId),
      ...keys.map(({ pubkey, isSigner, isWritable }) => key(pubkey, isSigner && !pubkey.equals(vault), isWritable)),
    ],
    data: Buffer.concat([
      Buffer.of(bump),
      Buffer.from(keys.map(({ isSigner, isWritable }) => (isSigner ? 1 : 0) + (isWritable ? 2 : 0))),
      data,
    ]),
  });
}
