import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import {
  AddressLookupTableProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { type RunningNode, startNode, wallets } from '../src/index.ts';

describe('lookup tables on the local Solana', () => {
  let node: RunningNode;
  let connection: Connection;
  const payer = Keypair.fromSecretKey(base58.decode(wallets[0]?.privateKey ?? ''));
  beforeAll(async () => {
    node = await startNode({ paused: true });
    connection = new Connection(node.url, 'processed');
  });
  afterAll(() => node.stop());

  const advance = async (): Promise<unknown> =>
    fetch(node.url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'local_advance', params: [] }),
    });
  const send = async (
    instructions: TransactionInstruction[],
    ...tables: Parameters<TransactionMessage['compileToV0Message']>
  ): Promise<string> => {
    const { blockhash } = await connection.getLatestBlockhash();
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: payer.publicKey,
        recentBlockhash: blockhash,
        instructions,
      }).compileToV0Message(...tables),
    );
    transaction.sign([payer]);
    return connection.sendTransaction(transaction);
  };

  it('are created, extended and used; the accounts they load belong to the transaction', async () => {
    const [to, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    await advance();
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: (await connection.getSlot()) - 1,
    });
    await send([create]);
    await send([
      AddressLookupTableProgram.extendLookupTable({
        lookupTable: table,
        authority: payer.publicKey,
        payer: payer.publicKey,
        addresses: [other, to],
      }),
    ]);
    await advance();
    const { value } = await connection.getAddressLookupTable(table);
    if (value === null) throw new Error('the table is not there');

    const signature = await send(
      [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 5_000_000 })],
      [value],
    );
    await advance();
    const landed = await connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    expect(landed?.transaction.message.addressTableLookups).toMatchObject([
      { writableIndexes: [1], readonlyIndexes: [] },
    ]);
    expect(landed?.meta?.loadedAddresses).toEqual({ writable: [to], readonly: [] });
    expect(landed?.meta?.postBalances.at(-1)).toBe(5_000_000);
    expect(await connection.getSignaturesForAddress(to, {}, 'confirmed')).toMatchObject([{ signature }]);
    const parsed = await connection.getParsedTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    expect(parsed?.transaction.message.instructions).toMatchObject([
      { program: 'system', parsed: { type: 'transfer', info: { destination: to.toBase58(), lamports: 5_000_000 } } },
    ]);
  });

  it('are rejected when an index is out of range', async () => {
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: (await connection.getSlot()) - 1,
    });
    await send([create]);
    const to = Keypair.generate().publicKey;
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: (await connection.getLatestBlockhash()).blockhash,
      instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1 })],
    }).compileToV0Message();
    const beyond = new VersionedTransaction(
      Object.assign(message, {
        staticAccountKeys: [payer.publicKey, PublicKey.default],
        header: { ...message.header, numReadonlyUnsignedAccounts: 1 },
        addressTableLookups: [{ accountKey: table, writableIndexes: [7], readonlyIndexes: [] }],
        compiledInstructions: message.compiledInstructions.map((one) => ({
          ...one,
          programIdIndex: 1,
          accountKeyIndexes: [0, 2],
        })),
      }),
    );
    beyond.sign([payer]);
    await expect(connection.sendTransaction(beyond)).rejects.toThrow('uses an invalid index');
  });
});
