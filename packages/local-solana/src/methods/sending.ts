import { z } from 'zod';
import { accountJson } from '../account-json.ts';
import { accountKeys } from '../account-keys.ts';
import { LIFETIME } from '../blockhashes.ts';
import { heightOf } from '../clock.ts';
import { feeOf } from '../fee.ts';
import { badSignature, invalidParams, preflightFailure, unhealthy } from '../rpc/error.ts';
import { bankSlot, inContext, method, type Methods, type Node } from '../rpc/method.ts';
import { address, bank, base58, base64, count, encoding, optional, commitment } from '../rpc/schemas.ts';
import { errorText, type TransactionErrorJson } from '../transaction-error.ts';
import { isSigned, parseWire, type Wire } from '../wire.ts';

const MAX_BYTES = 1_232;
const wireEncoding = optional(z.enum(['base58', 'base64']));
const sendConfig = z.looseObject({
  encoding: wireEncoding,
  skipPreflight: optional(z.boolean()),
  preflightCommitment: optional(commitment),
  maxRetries: optional(count),
  minContextSlot: optional(count),
});
const simulateConfig = bank.extend({
  encoding: wireEncoding,
  sigVerify: optional(z.boolean()),
  replaceRecentBlockhash: optional(z.boolean()),
  innerInstructions: optional(z.boolean()),
  accounts: optional(z.object({ addresses: z.array(address), encoding: optional(encoding) })),
});

/** Decodes the transaction of a request. */
function read(text: string, encoding: 'base58' | 'base64' = 'base58'): Wire {
  const decoded = (encoding === 'base64' ? base64 : base58).safeParse(text);
  if (!decoded.success) throw invalidParams(`invalid ${encoding} encoding`);
  const bytes = decoded.data;
  if (bytes.length > MAX_BYTES)
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: ` +
        `${MAX_BYTES} bytes)`,
    );
  try {
    return parseWire(bytes);
  } catch (error) {
    throw invalidParams(
      'failed to deserialize solana_transaction::versioned::VersionedTransaction: ' +
        `${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

interface Simulation {
  readonly error: TransactionErrorJson | null;
  readonly json: Record<string, unknown>;
}

/** A node's preflight: checks blockhash and duplicate, then simulates. */
function simulate({ chain }: Node, wire: Wire, slot: number, config: z.output<typeof simulateConfig>): Simulation {
  const notRun = (error: TransactionErrorJson): Simulation => ({
    error,
    json: {
      err: error,
      logs: [],
      accounts: null,
      unitsConsumed: 0,
      returnData: null,
      innerInstructions: null,
      loadedAccountsDataSize: 0,
      replacementBlockhash: null,
      fee: null,
    },
  });
  if (config.replaceRecentBlockhash !== true && chain.heightOfBlockhash(wire.blockhash, slot) === null)
    return notRun('BlockhashNotFound');
  if (chain.transaction(wire.signature) !== null) return notRun('AlreadyProcessed');
  const keys = accountKeys(wire.message, (of) => chain.account(of));
  if (typeof keys === 'string') return notRun(keys);
  const { error, logs, units, returnData, inner, accounts } = chain.simulate(wire);
  const after = (of: string): ReturnType<typeof chain.account> => accounts.get(of) ?? chain.account(of);
  const selected = config.accounts?.addresses.map((of) => {
    const account = error === null ? after(of) : null;
    return account && accountJson(account, after, { encoding: config.accounts?.encoding ?? 'base64' });
  });
  const json = {
    err: error,
    logs,
    accounts: selected ?? null,
    unitsConsumed: units,
    returnData,
    innerInstructions: config.innerInstructions === true ? inner : null,
    loadedAccountsDataSize: keys.all.reduce((sum, of) => sum + (chain.account(of)?.data.length ?? 0), 0),
    replacementBlockhash:
      config.replaceRecentBlockhash === true
        ? { blockhash: chain.blockhash(slot), lastValidBlockHeight: heightOf(slot) + LIFETIME }
        : null,
    fee: feeOf(wire.message),
  };
  return { error, json };
}

export const sendingMethods: Methods = {
  sendTransaction: method(z.tuple([z.string(), optional(sendConfig)]), (node, [text, config]) => {
    const wire = read(text, config?.encoding);
    const signed = isSigned(wire);
    if (config?.skipPreflight !== true) {
      const slot = bankSlot(node, { commitment: config?.preflightCommitment, minContextSlot: config?.minContextSlot });
      if (!signed) throw badSignature();
      if (node.slotsBehind > 0) throw unhealthy(node.slotsBehind);
      const { error, json } = simulate(node, wire, slot, {} as z.output<typeof simulateConfig>);
      if (error !== null) throw preflightFailure(errorText(error), json);
    }
    // Without preflight a node accepts anything, and does not report what cannot land.
    if (signed) node.chain.send(wire);
    return wire.signature;
  }),
  simulateTransaction: method(z.tuple([z.string(), optional(simulateConfig)]), (node, [text, config]) => {
    const wire = read(text, config?.encoding);
    if (config?.sigVerify === true && config.replaceRecentBlockhash === true)
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
    const slot = bankSlot(node, config);
    if (config?.sigVerify === true && !isSigned(wire)) throw badSignature();
    return inContext(slot, simulate(node, wire, slot, config ?? ({} as z.output<typeof simulateConfig>)).json);
  }),
};
