import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type ReadonlyUint8Array,
  type Transaction,
} from '@solana/kit';

/** Legacy or version 0. */
export type Message = Exclude<CompiledTransactionMessage, { version: 1 }> & CompiledTransactionMessageWithLifetime;

/** A decoded transaction. Its signatures may be wrong or missing. */
export interface Wire {
  readonly bytes: Uint8Array;
  readonly transaction: Transaction;
  readonly message: Message;
  /** Base58, in the order of the signers; all zeros when missing. */
  readonly signatures: readonly string[];
  /** The first signature, which identifies the transaction. */
  readonly signature: string;
  readonly payer: string;
  readonly blockhash: string;
}

const MISSING = new Uint8Array(64);

const sameBytes = (one: ReadonlyUint8Array, other: Uint8Array): boolean =>
  Buffer.from(new Uint8Array(one)).equals(other);

/** Whether a message's counts and indexes are consistent: a node's "sanitize". */
function isSane({ header, staticAccounts, instructions, ...message }: Message): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const tables = ('addressTableLookups' in message && message.addressTableLookups) || [];
  if (
    numReadonlySignerAccounts >= numSignerAccounts ||
    numSignerAccounts + numReadonlyNonSignerAccounts > staticAccounts.length
  )
    return false;
  if (
    new Set(staticAccounts).size < staticAccounts.length ||
    tables.some((table) => table.readonlyIndexes.length + table.writableIndexes.length === 0)
  )
    return false;
  const accounts = tables.reduce(
    (sum, table) => sum + table.readonlyIndexes.length + table.writableIndexes.length,
    staticAccounts.length,
  );
  return (
    accounts <= 256 &&
    instructions.every(
      ({ programAddressIndex, accountIndices = [] }) =>
        programAddressIndex > 0 &&
        programAddressIndex < staticAccounts.length &&
        accountIndices.every((index) => index < accounts),
    )
  );
}

/**
 * Decodes a transaction. The native runtime aborts the process on bytes that it cannot read, so it gets only
 * transactions that encode to the same bytes again.
 *
 * @throws Error when the bytes are no transaction of version legacy or 0
 */
export function parseWire(bytes: Uint8Array): Wire {
  const transaction = getTransactionDecoder().decode(bytes);
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  if (message.version === 1) throw new Error('transactions of version 1 are not served');
  if (!isSane(message)) throw new Error('Transaction failed to sanitize accounts offsets correctly');
  if (
    !sameBytes(getCompiledTransactionMessageEncoder().encode(message), new Uint8Array(transaction.messageBytes)) ||
    !sameBytes(getTransactionEncoder().encode(transaction), bytes)
  )
    throw new Error('there are bytes too many or too few');
  const { header, staticAccounts } = message;
  const [payer] = staticAccounts;
  const signatures = staticAccounts
    .slice(0, header.numSignerAccounts)
    .map((signer) => base58.encode(new Uint8Array(transaction.signatures[signer] ?? MISSING)));
  const [signature] = signatures;
  if (payer === undefined || signature === undefined) throw new Error('a transaction needs a payer');
  return { bytes, transaction, message, signatures, signature, payer, blockhash: message.lifetimeToken };
}

/** The SPKI prefix of an ed25519 public key; its 32 bytes follow (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether every signer has signed the message. */
export function isSigned({ transaction, message, signatures }: Wire): boolean {
  return signatures.every((signature, index) => {
    const signer = message.staticAccounts[index];
    if (signer === undefined) return false;
    const key = createPublicKey({ key: Buffer.concat([SPKI, base58.decode(signer)]), format: 'der', type: 'spki' });
    return verify(null, new Uint8Array(transaction.messageBytes), key, base58.decode(signature));
  });
}

/** Whether the static account at this index is writable, by the message's header. */
export function isWritable({ header, staticAccounts }: Message, index: number): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  return index < numSignerAccounts
    ? index < numSignerAccounts - numReadonlySignerAccounts
    : index < staticAccounts.length - numReadonlyNonSignerAccounts;
}
