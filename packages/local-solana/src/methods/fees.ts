import {
  getCompiledTransactionMessageDecoder,
  getTransactionEncoder,
  type SignaturesMap,
  type TransactionMessageBytes,
} from '@solana/kit';
import { z } from 'zod';
import { computeBudget, feeOf } from '../fee.ts';
import { invalidParams } from '../rpc/error.ts';
import { bankSlot, inContext, method, type Methods } from '../rpc/method.ts';
import { address, bank, base64, optional } from '../rpc/schemas.ts';
import { isWritable, parseWire, type Wire } from '../wire.ts';

/** The slots that getRecentPrioritizationFees covers. */
const RECENT = 150;

/** A message without signatures: an unsigned transaction. */
function unsigned(message: Uint8Array): Wire {
  const { header, staticAccounts } = getCompiledTransactionMessageDecoder().decode(message) as {
    header: { numSignerAccounts: number };
    staticAccounts: string[];
  };
  const signatures = Object.fromEntries(
    staticAccounts.slice(0, header.numSignerAccounts).map((signer) => [signer, null]),
  ) as SignaturesMap;
  return parseWire(
    new Uint8Array(
      getTransactionEncoder().encode({ messageBytes: message as unknown as TransactionMessageBytes, signatures }),
    ),
  );
}

export const feeMethods: Methods = {
  getFeeForMessage: method(z.tuple([base64, optional(bank)]), (node, [bytes, config]) => {
    const slot = bankSlot(node, config);
    let wire: Wire;
    try {
      wire = unsigned(bytes);
    } catch (error) {
      throw invalidParams(`failed to deserialize solana_message::VersionedMessage: ${String(error)}`);
    }
    return inContext(slot, node.chain.heightOfBlockhash(wire.blockhash, slot) === null ? null : feeOf(wire.message));
  }),
  getRecentPrioritizationFees: method(z.tuple([optional(z.array(address).max(128))]), ({ chain }, [addresses = []]) => {
    const head = chain.clock.slot();
    const lowest = new Map<number, bigint>();
    for (const { slot, wire } of chain.between(head - RECENT + 1, head)) {
      const { message } = parseWire(wire);
      const writes = new Set<string>(message.staticAccounts.filter((_, index) => isWritable(message, index)));
      if (!addresses.every((one) => writes.has(one))) continue;
      const { price } = computeBudget(message);
      const before = lowest.get(slot);
      lowest.set(slot, before === undefined || price < before ? price : before);
    }
    return Array.from({ length: RECENT }, (_, index) => {
      const slot = head - RECENT + 1 + index;
      return { slot, prioritizationFee: lowest.get(slot) ?? 0n };
    });
  }),
};
