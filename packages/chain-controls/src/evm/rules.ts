import { type ChainFamily, families } from '@pf/chains/networks';
import type { FoundPayment } from './transaction.ts';

/** What differs between the EVM chains. */
export interface EvmRules {
  /** Between blocks while they are made from here. */
  readonly blockMs: number;
  /** The real network's base fee does not follow demand. */
  readonly hasFixedBaseFee: boolean;
  /** Why blocks cannot be taken back; null: they can. */
  readonly whyNoReorg: string | null;
  /** From when on a payment whose nonce another used is proven dead; null: at once. */
  provenFrom(payment: FoundPayment): Date | null;
}

export const baseRules: EvmRules = {
  blockMs: families.base.blockMs,
  hasFixedBaseFee: false,
  whyNoReorg: null,
  provenFrom: () => null,
};

const tempoRules: EvmRules = {
  blockMs: families.tempo.blockMs,
  hasFixedBaseFee: true,
  whyNoReorg: 'Tempo has no reorgs: a block is final. To undo a payment, reorg base or solana',
  // Nonces may expire there, so that only time proves that a transaction can never land.
  provenFrom: ({ transaction: { validBefore } }) =>
    validBefore === null || validBefore === undefined ? null : new Date(Number(validBefore) * 1000),
};

export const evmRules: Readonly<Record<Exclude<ChainFamily, 'solana'>, EvmRules>> = {
  base: baseRules,
  tempo: tempoRules,
};
