import { z } from 'zod';
import { LIFETIME } from '../blockhashes.ts';
import { heightOf, SLOTS_PER_EPOCH } from '../clock.ts';
import { unhealthy } from '../rpc/error.ts';
import { bankSlot, inContext, method, type Methods, VERSION } from '../rpc/method.ts';
import { bank, blockhash, count, optional } from '../rpc/schemas.ts';
import { nodeWallet } from '../wallets.ts';

const onlyBank = z.tuple([optional(bank)]);
const nothing = z.tuple([optional(z.unknown())]);

/** Methods about the chain's time and the cluster. */
export const clusterMethods: Methods = {
  getHealth: method(nothing, ({ slotsBehind }) => {
    if (slotsBehind > 0) throw unhealthy(slotsBehind);
    return 'ok';
  }),
  getVersion: method(nothing, () => ({ 'feature-set': 0, 'solana-core': VERSION })),
  getGenesisHash: method(nothing, ({ genesisHash }) => genesisHash),
  getIdentity: method(nothing, () => ({ identity: nodeWallet.address })),
  getSlot: method(onlyBank, (node, [config]) => bankSlot(node, config)),
  getBlockHeight: method(onlyBank, (node, [config]) => heightOf(bankSlot(node, config))),
  getSlotLeader: method(onlyBank, () => nodeWallet.address),
  getFirstAvailableBlock: method(nothing, () => 0),
  minimumLedgerSlot: method(nothing, () => 0),
  getTransactionCount: method(onlyBank, ({ chain }) => chain.transactionCount()),
  getEpochInfo: method(onlyBank, (node, [config]) => {
    const slot = bankSlot(node, config);
    return {
      absoluteSlot: slot,
      blockHeight: heightOf(slot),
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: node.chain.transactionCount(),
    };
  }),
  getEpochSchedule: method(nothing, () => ({
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
    leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
    slotsPerEpoch: SLOTS_PER_EPOCH,
    warmup: false,
  })),
  getBlockTime: method(z.tuple([count]), ({ chain }, [slot]) => {
    const [landed] = chain.between(slot, slot);
    return landed?.time ?? Math.floor(chain.clock.timeOf(slot) / 1000);
  }),
  getLatestBlockhash: method(onlyBank, (node, [config]) => {
    const slot = bankSlot(node, config);
    return inContext(slot, { blockhash: node.chain.blockhash(slot), lastValidBlockHeight: heightOf(slot) + LIFETIME });
  }),
  isBlockhashValid: method(z.tuple([blockhash, optional(bank)]), (node, [hash, config]) => {
    const slot = bankSlot(node, config);
    return inContext(slot, node.chain.heightOfBlockhash(hash, slot) !== null);
  }),
  getMinimumBalanceForRentExemption: method(z.tuple([count, optional(bank)]), ({ chain }, [bytes]) =>
    chain.rent(bytes),
  ),
};
