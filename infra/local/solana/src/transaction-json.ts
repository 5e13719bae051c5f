import { base58 } from '@scure/base';
import { unsupportedVersion } from './rpc/error.ts';
import type { Landed } from './ledger.ts';
import { isWritable, type Message, parseWire, type Wire } from './wire.ts';

export type TransactionEncoding = 'json' | 'jsonParsed' | 'base64' | 'base58';

function messageJson(message: Message): unknown {
  const { header, staticAccounts, instructions, lifetimeToken } = message;
  return {
    accountKeys: staticAccounts,
    header: { numRequiredSignatures: header.numSignerAccounts, numReadonlySignedAccounts: header.numReadonlySignerAccounts, numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts },
    instructions: instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({ programIdIndex: programAddressIndex, accounts: accountIndices, data: base58.encode(new Uint8Array(data ?? [])), stackHeight: 1 })),
    recentBlockhash: lifetimeToken,
    ...(message.version === 0 && { addressTableLookups: (message.addressTableLookups ?? []).map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({ accountKey: lookupTableAddress, writableIndexes, readonlyIndexes })) }),
  };
}

/** A landed transaction as getTransaction and getBlock have it. @throws RpcError -32015 where its version is not wanted */
export function transactionJson({ wire: bytes, meta }: Landed, encoding: TransactionEncoding, maxVersion: number | undefined): { transaction: unknown; meta: unknown; version?: unknown } {
  const wire = parseWire(bytes);
  const { version } = wire.message;
  if (version !== 'legacy' && (maxVersion ?? -1) < version) throw unsupportedVersion(version);
  const transaction = encoding === 'base64' ? [Buffer.from(bytes).toString('base64'), encoding] : encoding === 'base58' ? [base58.encode(bytes), encoding] : { signatures: wire.signatures, message: encoding === 'json' ? messageJson(wire.message) : parsedMessage(wire) };
  return { transaction, meta, ...(maxVersion !== undefined && { version }) };
}

/** Accounts with what they are for; instructions with addresses instead of places. */
function parsedMessage({ message }: Wire): unknown {
  return { accountKeys: message.staticAccounts.map((pubkey, index) => ({ pubkey, signer: index < message.header.numSignerAccounts, writable: isWritable(message, index), source: 'transaction' })), instructions: [], recentBlockhash: message.lifetimeToken };
}
