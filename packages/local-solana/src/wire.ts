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

/** A transaction as it came over the wire, taken apart. Its signatures may be wrong or missing. */
export interface Wire {
  readonly bytes: Uint8Array;
  readonly transaction: Transaction;
  readonly message: Message;
  /** Base58, in the order of the signers; all zero where missing. */
  readonly signatures: readonly string[];
  /** The first of them: the transaction's name. */
  readonly signature: string;
  readonly payer: string;
  readonly blockhash: string;
}

const MISSING = new Uint8Array(64);

const sameBytes = (one: ReadonlyUint8Array, other: Uint8Array): boolean =>
  Buffer.from(new Uint8Array(one)).equals(other);

/** Whether the counts and places in a message fit together: what a node calls sanitized. */
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
 * Takes a transaction apart. The runtime is native code, which ends the process over bytes that it cannot read: nothing
 * gets there that does not come out of the same bytes whole.
 *
 * @throws where the bytes are no transaction of version legacy or 0
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

/** An ed25519 public key in SPKI is this, then its 32 bytes (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether every signer has signed these bytes. */
export function isSigned({ transaction, message, signatures }: Wire): boolean {
  return signatures.every((signature, index) => {
    const signer = message.staticAccounts[index];
    if (signer === undefined) return false;
    const key = createPublicKey({ key: Buffer.concat([SPKI, base58.decode(signer)]), format: 'der', type: 'spki' });
    return verify(null, new Uint8Array(transaction.messageBytes), key, base58.decode(signature));
  });
}

/** Whether the account at this place of the static ones may be written, by the message's header. */
export function isWritable({ header, staticAccounts }: Message, index: number): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  return index < numSignerAccounts
    ? index < numSignerAccounts - numReadonlySignerAccounts
    : index < staticAccounts.length - numReadonlyNonSignerAccounts;
}
