import { z } from 'zod';
import { levelOf } from '../chain.ts';
import { heightOf } from '../clock.ts';
import type { Landed } from '../ledger.ts';
import { blockNotAvailable, invalidParams, slotSkipped } from '../rpc/error.ts';
import { blockSlot, inContext, method, type Methods, type Node } from '../rpc/method.ts';
import { bank, count, address, optional, signature } from '../rpc/schemas.ts';
import { memoOf, transactionJson } from '../transaction-json.ts';
import { parseWire } from '../wire.ts';

/** The recent slots that a node searches without searchTransactionHistory. */
const STATUS_CACHE_SLOTS = 300;
const encoding = z.enum(['json', 'jsonParsed', 'base64', 'base58']);
const transactionConfig = bank.extend({
  encoding: optional(encoding),
  maxSupportedTransactionVersion: optional(count),
});
/** Legacy clients pass the encoding alone. */
const asConfig = <T extends z.ZodType>(schema: T): z.ZodPreprocess<T> =>
  z.preprocess((value) => (typeof value === 'string' ? { encoding: value } : value), schema);

function status({ chain: { clock } }: Node, { slot, meta }: Landed): unknown {
  const confirmationStatus = levelOf(clock, slot);
  return {
    slot,
    confirmations: confirmationStatus === 'finalized' ? null : clock.slot() - slot,
    status: meta.status,
    err: meta.err,
    confirmationStatus,
  };
}

export const historyMethods: Methods = {
  getSignatureStatuses: method(
    z.tuple([z.array(signature), optional(z.looseObject({ searchTransactionHistory: optional(z.boolean()) }))]),
    (node, [signatures, config]) => {
      if (signatures.length > 256) throw invalidParams('Too many inputs provided; max 256');
      const head = node.chain.clock.slot();
      const value = signatures.map((one) => {
        const landed = node.chain.transaction(one);
        return landed === null || (config?.searchTransactionHistory !== true && landed.slot < head - STATUS_CACHE_SLOTS)
          ? null
          : status(node, landed);
      });
      return inContext(head, value);
    },
  ),
  getSignaturesForAddress: method(
    z.tuple([
      address,
      optional(
        bank.extend({ before: optional(signature), until: optional(signature), limit: optional(z.number().int()) }),
      ),
    ]),
    (node, [of, config]) => {
      const slot = blockSlot(node, config);
      const limit = config?.limit ?? 1_000;
      if (limit < 1 || limit > 1_000) throw invalidParams('Invalid limit; max 1000');
      // An unknown signature is no bound.
      const place = (name: string | undefined): number | undefined =>
        name === undefined ? undefined : node.chain.transaction(name)?.sequence;
      const found = node.chain.mentioning(of, {
        slot,
        limit,
        before: place(config?.before) ?? Number.MAX_SAFE_INTEGER,
        after: place(config?.until) ?? 0,
      });
      return found.map((landed) => ({
        signature: landed.signature,
        slot: landed.slot,
        err: landed.meta.err,
        memo: memoOf(landed),
        blockTime: landed.time,
        confirmationStatus: levelOf(node.chain.clock, landed.slot),
      }));
    },
  ),
  getTransaction: method(z.tuple([signature, optional(asConfig(transactionConfig))]), (node, [of, config]) => {
    const slot = blockSlot(node, config);
    const landed = node.chain.transaction(of);
    if (landed === null || landed.slot > slot) return null;
    return {
      slot: landed.slot,
      blockTime: landed.time,
      ...transactionJson(landed, config?.encoding ?? 'json', config?.maxSupportedTransactionVersion),
    };
  }),
  getBlock: method(
    z.tuple([
      count,
      optional(
        asConfig(
          transactionConfig.extend({
            transactionDetails: optional(z.enum(['full', 'signatures', 'none', 'accounts'])),
            rewards: optional(z.boolean()),
          }),
        ),
      ),
    ]),
    (node, [slot, config]) => {
      if (slot > blockSlot(node, config)) throw blockNotAvailable(slot);
      if (heightOf(slot) < 1) throw slotSkipped(slot);
      const details = config?.transactionDetails ?? 'full';
      if (details === 'accounts') throw invalidParams('transactionDetails "accounts" is not served here');
      const landed = node.chain.between(slot, slot);
      return {
        blockhash: node.chain.blockhash(slot),
        previousBlockhash: node.chain.blockhash(slot - 1),
        parentSlot: slot - 1,
        blockHeight: heightOf(slot),
        blockTime: landed[0]?.time ?? Math.floor(node.chain.clock.timeOf(slot) / 1000),
        ...(details === 'full' && {
          transactions: landed.map((one) =>
            transactionJson(one, config?.encoding ?? 'json', config?.maxSupportedTransactionVersion),
          ),
        }),
        ...(details === 'signatures' && { signatures: landed.map(({ wire }) => parseWire(wire).signature) }),
        ...(config?.rewards !== false && { rewards: [] }),
      };
    },
  ),
};
