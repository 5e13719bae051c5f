import { base58 } from '@scure/base';
import { instructionJson } from './instruction-json.ts';
import { memosIn } from './memos.ts';
import type { Landed } from './ledger.ts';
import type { TransactionMeta } from './meta.ts';
import { unsupportedVersion } from './rpc/error.ts';
import { isWritable, type Message, parseWire } from './wire.ts';

export type TransactionEncoding = 'json' | 'jsonParsed' | 'base64' | 'base58';

/** The message in the encoding `json`. */
function messageJson(message: Message): unknown {
  const { header, staticAccounts, instructions, lifetimeToken } = message;
  return {
    accountKeys: staticAccounts,
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    instructions: instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
      programIdIndex: programAddressIndex,
      accounts: accountIndices,
      data: base58.encode(new Uint8Array(data ?? [])),
      stackHeight: 1,
    })),
    recentBlockhash: lifetimeToken,
    ...(message.version === 0 && { addressTableLookups: lookupsJson(message) }),
  };
}
const lookupsJson = (message: Extract<Message, { version: 0 }>): unknown[] =>
  (message.addressTableLookups ?? []).map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
    accountKey: lookupTableAddress,
    writableIndexes,
    readonlyIndexes,
  }));

/** The message in the encoding `jsonParsed`. */
function parsedJson(
  message: Message,
  { loadedAddresses, ...meta }: TransactionMeta,
): { message: unknown; meta: unknown } {
  const accountKeys = [
    ...message.staticAccounts.map((pubkey, index) => ({
      pubkey,
      signer: index < message.header.numSignerAccounts,
      source: 'transaction',
      writable: isWritable(message, index),
    })),
    ...loadedAddresses.writable.map((pubkey) => ({ pubkey, signer: false, source: 'lookupTable', writable: true })),
    ...loadedAddresses.readonly.map((pubkey) => ({ pubkey, signer: false, source: 'lookupTable', writable: false })),
  ];
  const addressAt = (index: number): string => accountKeys[index]?.pubkey ?? '';
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) =>
    instructionJson({
      program: addressAt(programAddressIndex),
      accounts: accountIndices.map(addressAt),
      data: new Uint8Array(data ?? []),
      stackHeight: 1,
    }),
  );
  const innerInstructions = meta.innerInstructions.map(({ index, instructions: called }) => ({
    index,
    instructions: called.map(({ programIdIndex, accounts, data, stackHeight }) =>
      instructionJson({
        program: addressAt(programIdIndex),
        accounts: accounts.map(addressAt),
        data: base58.decode(data),
        stackHeight,
      }),
    ),
  }));
  return {
    message: {
      accountKeys,
      instructions,
      recentBlockhash: message.lifetimeToken,
      ...(message.version === 0 && { addressTableLookups: lookupsJson(message) }),
    },
    meta: { ...meta, innerInstructions },
  };
}

/**
 * A landed transaction in the format of getTransaction and getBlock.
 *
 * @throws RpcError -32015 when its version is above `maxVersion`
 */
export function transactionJson(
  { wire: bytes, meta }: Landed,
  encoding: TransactionEncoding,
  maxVersion: number | undefined,
): { transaction: unknown; meta: unknown; version?: unknown } {
  const { message, signatures } = parseWire(bytes);
  if (message.version !== 'legacy' && (maxVersion ?? -1) < message.version) throw unsupportedVersion(message.version);
  const version = maxVersion === undefined ? {} : { version: message.version };
  switch (encoding) {
    case 'base64':
      return { transaction: [Buffer.from(bytes).toString('base64'), encoding], meta, ...version };
    case 'base58':
      return { transaction: [base58.encode(bytes), encoding], meta, ...version };
    case 'json':
      return { transaction: { signatures, message: messageJson(message) }, meta, ...version };
    case 'jsonParsed': {
      const parsed = parsedJson(message, meta);
      return { transaction: { signatures, message: parsed.message }, meta: parsed.meta, ...version };
    }
  }
}

/** The memos of a transaction, as getSignaturesForAddress lists them: `[length] text`, with `; ` between. */
export function memoOf({ wire }: Landed): string | null {
  const memos = memosIn(parseWire(wire).message);
  return memos.length === 0 ? null : memos.map((memo) => `[${memo.length}] ${memo.toString()}`).join('; ');
}
