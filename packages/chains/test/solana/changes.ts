import { createHash } from 'node:crypto';
import type { Address, PaymentTerms } from '@pf/domain';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  MessageV0,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  LIGHTHOUSE_PROGRAM_ADDRESS,
  MEMO_PROGRAM_ADDRESS,
  TOKEN_2022_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from '../../src/solana/programs.ts';
import { tokenAccountOf } from '../../src/solana/payment.ts';

/** What a wallet, or a malicious payer, makes of the built instructions. */
export type Change = (
  instructions: readonly TransactionInstruction[],
  payer: PublicKey,
) => readonly TransactionInstruction[];
/** The same for what is around the instructions. */
export interface Rewrite {
  readonly rewrite: (message: TransactionMessage) => VersionedTransaction;
}

/** A transaction taken apart, changed and put together again with web3.js, unsigned. */
export const changed =
  (change: Change | Rewrite) =>
  (transaction: VersionedTransaction): VersionedTransaction => {
    const message = TransactionMessage.decompile(transaction.message);
    if ('rewrite' in change) return change.rewrite(message);
    message.instructions = [...change(message.instructions, message.payerKey)];
    return new VersionedTransaction(message.compileToV0Message());
  };

const at =
  (program: string) =>
  ({ programId }: TransactionInstruction): boolean =>
    programId.toBase58() === program;
const isTransfer = ({ data, keys }: TransactionInstruction): boolean => data[0] === 12 && keys.length >= 4;

/** The instructions that a condition holds for, changed. */
const where =
  (
    condition: (instruction: TransactionInstruction) => boolean,
    change: (instruction: TransactionInstruction) => TransactionInstruction,
  ): Change =>
  (instructions, _payer) =>
    instructions.map((instruction) => (condition(instruction) ? change(instruction) : instruction));
const transferWith = (change: (instruction: TransactionInstruction) => TransactionInstruction): Change =>
  where(isTransfer, change);

const withKey = (
  instruction: TransactionInstruction,
  place: number,
  change: Partial<TransactionInstruction['keys'][number]>,
): TransactionInstruction =>
  new TransactionInstruction({
    ...instruction,
    keys: instruction.keys.map((key, index) => (index === place ? { ...key, ...change } : key)),
  });
const withData = (instruction: TransactionInstruction, change: (data: Buffer) => Buffer): TransactionInstruction =>
  new TransactionInstruction({ ...instruction, data: change(Buffer.from(instruction.data)) });
const amountData =
  (amount: bigint) =>
  (data: Buffer): Buffer => {
    data.writeBigUInt64LE(amount, 1);
    return data;
  };

const randomKey = (): PublicKey => Keypair.generate().publicKey;
const reader = (pubkey: PublicKey): { pubkey: PublicKey; isSigner: boolean; isWritable: boolean } => ({
  pubkey,
  isSigner: false,
  isWritable: false,
});

/** An assertion such as Phantom puts in: the account's data is at least so long, say. */
export const guard = (account: PublicKey, discriminator = 4): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(LIGHTHOUSE_PROGRAM_ADDRESS),
    keys: [reader(account)],
    data: Buffer.of(discriminator, 0, 1),
  });
const memo = (text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: new PublicKey(MEMO_PROGRAM_ADDRESS), keys: [], data: Buffer.from(text) });
const before =
  (...added: TransactionInstruction[]): Change =>
  (instructions, _payer) => [...added, ...instructions];
const behind =
  (...added: TransactionInstruction[]): Change =>
  (instructions, _payer) => [...instructions, ...added];
const isMemo = at(MEMO_PROGRAM_ADDRESS);
const isCreation = at(ASSOCIATED_TOKEN_PROGRAM_ADDRESS);

/** Everything that carries meaning, changed one at a time; the name is the difference that verify must tell. */
export async function tamperings(
  { requestor, amount, reference, tokenAddress }: PaymentTerms,
  payer: Address,
): Promise<readonly (readonly [string, Change | Rewrite])[]> {
  const thief = randomKey();
  const [stolen, otherSource] = await Promise.all([
    tokenAccountOf(thief.toBase58() as Address, tokenAddress),
    tokenAccountOf(thief.toBase58() as Address, tokenAddress),
  ]);
  const [usdc, pyusd] = [
    '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM',
  ];
  const otherMint = new PublicKey((tokenAddress as string) === pyusd ? usdc : pyusd);
  const otherProgram = new PublicKey(
    (tokenAddress as string) === pyusd ? TOKEN_PROGRAM_ADDRESS : TOKEN_2022_PROGRAM_ADDRESS,
  );
  const payerKey = new PublicKey(payer);
  return [
    ['version', { rewrite: (message) => new VersionedTransaction(message.compileToLegacyMessage()) }],
    [
      'tables',
      {
        rewrite: (message) =>
          new VersionedTransaction(
            message.compileToV0Message([tableOf([new PublicKey(reference), new PublicKey(tokenAddress)])]),
          ),
      },
    ],
    [
      'signers',
      {
        rewrite: (message) =>
          recompiled(message, [
            ...message.instructions,
            new TransactionInstruction({
              programId: new PublicKey(LIGHTHOUSE_PROGRAM_ADDRESS),
              keys: [{ ...reader(thief), isSigner: true }],
              data: Buffer.of(4),
            }),
          ]),
      },
    ],
    ['accounts', { rewrite: (message) => withUnusedAccount(message, thief) }],
    ['nonce', before(SystemProgram.nonceAdvance({ noncePubkey: thief, authorizedPubkey: payerKey }))],
    [
      'nonce',
      before(new TransactionInstruction({ programId: SystemProgram.programId, keys: [], data: Buffer.of(4, 0, 0, 0) })),
    ],
    ['guards', behind(...Array.from({ length: 5 }, () => guard(payerKey)))],
    ['budget', before(ComputeBudgetProgram.setComputeUnitLimit({ units: 50_000 }))],
    ['budget', behind(ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 5 }))],
    ['fee', where(isPrice, () => ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000_000_000 }))],
    ['instructions', behind(SystemProgram.transfer({ fromPubkey: payerKey, toPubkey: thief, lamports: 1 }))],
    ['instructions', before(ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 }))],
    ['instructions', behind(guard(payerKey, 0))],
    [
      'instructions',
      transferWith((instruction) =>
        withData(instruction, (data) => Buffer.concat([Buffer.of(3), data.subarray(1, 9)])),
      ),
    ],
    [
      'instructions',
      transferWith((instruction) => withData(instruction, (data) => Buffer.concat([data, Buffer.of(0)]))),
    ],
    ['token_account', where(isCreation, (instruction) => withKey(instruction, 2, { pubkey: thief }))],
    ['token_account', where(isCreation, (instruction) => withKey(instruction, 1, { pubkey: new PublicKey(stolen) }))],
    ['token_account', (instructions, _payer) => [...instructions.filter(isCreation), ...instructions]],
    ['instructions', where(isCreation, (instruction) => withData(instruction, () => Buffer.of(0)))],
    ['memo', where(isMemo, () => memo('another'))],
    ['memo', (instructions, _payer) => instructions.filter((one) => !isMemo(one))],
    ['memo', before(memo(reference))],
    [
      'memo',
      where(
        isMemo,
        (instruction) =>
          new TransactionInstruction({
            ...instruction,
            keys: [{ pubkey: payerKey, isSigner: true, isWritable: true }],
          }),
      ),
    ],
    ['transfers', (instructions, _payer) => instructions.filter((one) => !isTransfer(one))],
    ['transfers', (instructions, _payer) => [...instructions, ...instructions.filter(isTransfer)]],
    ['token', transferWith((instruction) => withKey(instruction, 1, { pubkey: otherMint }))],
    ['program', transferWith((instruction) => new TransactionInstruction({ ...instruction, programId: otherProgram }))],
    ['source', transferWith((instruction) => withKey(instruction, 0, { pubkey: new PublicKey(otherSource) }))],
    ['recipient', transferWith((instruction) => withKey(instruction, 2, { pubkey: new PublicKey(stolen) }))],
    ['recipient', transferWith((instruction) => withKey(instruction, 2, { pubkey: new PublicKey(requestor) }))],
    ['authority', transferWith((instruction) => withKey(instruction, 3, { pubkey: thief, isSigner: false }))],
    ['amount', transferWith((instruction) => withData(instruction, amountData(amount - 1n)))],
    ['amount', transferWith((instruction) => withData(instruction, amountData(amount + 1n)))],
    [
      'decimals',
      transferWith((instruction) =>
        withData(instruction, (data) => Buffer.concat([data.subarray(0, 9), Buffer.of(7)])),
      ),
    ],
    ['reference', transferWith((instruction) => withKey(instruction, 4, { pubkey: randomKey() }))],
    [
      'reference',
      transferWith(
        (instruction) =>
          new TransactionInstruction({ ...instruction, keys: [...instruction.keys, reader(randomKey())] }),
      ),
    ],
    ['reference', transferWith((instruction) => withKey(instruction, 4, { isWritable: true }))],
    [
      'order',
      (instructions, _payer) => [...instructions.filter((one) => !isMemo(one)), ...instructions.filter(isMemo)],
    ],
    [
      'order',
      (instructions, _payer) => [...instructions.filter((one) => !isCreation(one)), ...instructions.filter(isCreation)],
    ],
  ];
}

const isPrice = ({ programId, data }: TransactionInstruction): boolean =>
  programId.equals(ComputeBudgetProgram.programId) && data[0] === 3;

/** What wallets really do to what they sign: by its name. */
export const walletChanges = (payer: Address): readonly (readonly [string, Change])[] => {
  const payerKey = new PublicKey(payer);
  const isBudget = ({ programId }: TransactionInstruction): boolean => programId.equals(ComputeBudgetProgram.programId);
  return [
    ['guards behind the transfer, as Phantom adds them', behind(guard(payerKey), guard(payerKey, 9))],
    [
      'guards before and behind',
      (instructions, _payer) => [guard(payerKey), ...instructions, guard(payerKey), guard(payerKey, 6)],
    ],
    [
      'four guards among the instructions',
      (instructions, _payer) => instructions.flatMap((one, place) => (place < 4 ? [guard(payerKey), one] : [one])),
    ],
    [
      'a compute budget of its own',
      (instructions, _payer) => [
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 250_000 }),
        ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
        ...instructions.filter((one) => !isBudget(one)),
      ],
    ],
    [
      'the compute budget at the end',
      (instructions, _payer) => [...instructions.filter((one) => !isBudget(one)), ...instructions.filter(isBudget)],
    ],
    ['no compute budget', (instructions, _payer) => instructions.filter((one) => !isBudget(one))],
  ];
};

function recompiled(message: TransactionMessage, instructions: TransactionInstruction[]): VersionedTransaction {
  return new VersionedTransaction(new TransactionMessage({ ...message, instructions }).compileToV0Message());
}

function tableOf(addresses: PublicKey[]): AddressLookupTableAccount {
  return new AddressLookupTableAccount({
    key: randomKey(),
    state: { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses },
  });
}

/** An account in the message that no instruction uses; the places of those before it stay the same. */
function withUnusedAccount(message: TransactionMessage, account: PublicKey): VersionedTransaction {
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions, addressTableLookups } =
    message.compileToV0Message();
  return new VersionedTransaction(
    new MessageV0({
      header: { ...header, numReadonlyUnsignedAccounts: header.numReadonlyUnsignedAccounts + 1 },
      staticAccountKeys: [...staticAccountKeys, account],
      recentBlockhash,
      compiledInstructions,
      addressTableLookups,
    }),
  );
}

interface SeededPayment {
  readonly from: PublicKey;
  readonly source: PublicKey;
  readonly mint: PublicKey;
  readonly owner: PublicKey;
  readonly amount: bigint;
  readonly reference: PublicKey;
}

/**
 * A payment to a token account that the payer makes for its owner at an address of its own kind
 * (createAccountWithSeed).
 */
export function toSeededAccount({
  from,
  source,
  mint,
  owner,
  amount,
  reference,
}: SeededPayment): readonly TransactionInstruction[] {
  const token = new PublicKey(TOKEN_PROGRAM_ADDRESS);
  const account = seededAddress(from, reference.toBase58().slice(0, 32), token);
  const create = SystemProgram.createAccountWithSeed({
    fromPubkey: from,
    basePubkey: from,
    seed: reference.toBase58().slice(0, 32),
    newAccountPubkey: account,
    lamports: 3_000_000,
    space: 165,
    programId: token,
  });
  const initialize = new TransactionInstruction({
    programId: token,
    keys: [{ ...reader(account), isWritable: true }, reader(mint)],
    data: Buffer.concat([Buffer.of(18), owner.toBuffer()]),
  });
  const data = Buffer.concat([Buffer.of(12), Buffer.alloc(8), Buffer.of(6)]);
  const keys = [
    { ...reader(source), isWritable: true },
    reader(mint),
    { ...reader(account), isWritable: true },
    { pubkey: from, isSigner: true, isWritable: false },
    reader(reference),
  ];
  return [create, initialize, new TransactionInstruction({ programId: token, keys, data: amountData(amount)(data) })];
}

const seededAddress = (base: PublicKey, seed: string, owner: PublicKey): PublicKey =>
  new PublicKey(
    createHash('sha256')
      .update(Buffer.concat([base.toBuffer(), Buffer.from(seed), owner.toBuffer()]))
      .digest(),
  );
