import {
  type Connection,
  type Keypair,
  PublicKey,
  SystemProgram,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
/** What the loader keeps before the code of a buffer, of a program's data, and of a program. */
const BYTES = { buffer: 37, data: 45, program: 36 } as const;
const CHUNK = 900;

const u32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [place, value] of values.entries()) bytes.writeUInt32LE(value, 4 * place);
  return bytes;
};
const u64 = (value: number): Buffer => u32(value, 0);
const meta = (pubkey: PublicKey, isSigner = false, isWritable = false) => ({ pubkey, isSigner, isWritable });

/** Deploys a program on a chain whose blocks the caller makes. */
export async function deployProgram(
  connection: Connection,
  payer: Keypair,
  { program, buffer }: { readonly program: Keypair; readonly buffer: Keypair },
  file: Uint8Array,
  advance: () => Promise<unknown>,
): Promise<void> {
  const loader = (data: Buffer, ...keys: ReturnType<typeof meta>[]): TransactionInstruction =>
    new TransactionInstruction({ programId: LOADER, data, keys });
  const create = async (of: Keypair, space: number): Promise<TransactionInstruction> =>
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: of.publicKey,
      space,
      lamports: await connection.getMinimumBalanceForRentExemption(space),
      programId: LOADER,
    });
  const send = async (instructions: TransactionInstruction[], ...signers: Keypair[]): Promise<void> => {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([payer, ...signers]);
    await connection.sendRawTransaction(transaction.serialize());
    await advance();
  };
  await send(
    [
      await create(buffer, BYTES.buffer + file.length),
      loader(u32(0), meta(buffer.publicKey, false, true), meta(payer.publicKey)),
    ],
    buffer,
  );
  for (let at = 0; at < file.length; at += CHUNK) {
    const part = file.subarray(at, at + CHUNK);
    await send([
      loader(
        Buffer.concat([u32(1, at), u64(part.length), part]),
        meta(buffer.publicKey, false, true),
        meta(payer.publicKey, true),
      ),
    ]);
  }
  const [data] = PublicKey.findProgramAddressSync([program.publicKey.toBytes()], LOADER);
  await send(
    [
      await create(program, BYTES.program),
      loader(
        Buffer.concat([u32(2), u64(file.length)]),
        meta(payer.publicKey, true, true),
        meta(data, false, true),
        meta(program.publicKey, false, true),
        meta(buffer.publicKey, false, true),
        meta(SYSVAR_RENT_PUBKEY),
        meta(SYSVAR_CLOCK_PUBKEY),
        meta(SystemProgram.programId),
        meta(payer.publicKey, true),
      ),
    ],
    program,
  );
}
