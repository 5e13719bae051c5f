import { controlsOf } from '@pf/chain-controls';
import { type StackChain, type StackWallet } from '@pf/testing';
import { startAnvil, startSolana, startTempo } from '@pf/testing/chains';
import { tempoWallet, walletOn } from '@pf/testing/wallets';

/** Submits signed bytes; resolves with the hash. */
type Submit = (signed: string) => Promise<string>;

/** A chain whose blocks the test produces, and which can fail, drop or orphan a payment. */
export interface TroubledChain {
  readonly chain: StackChain;
  /** Produces a block or slot. */
  pass(): Promise<void>;
  /** Signs and submits a payment that passes the simulation and fails on chain. */
  fail(payer: StackWallet, blob: string, submit: Submit): Promise<void>;
  /** Signs and submits a payment that the chain drops; after some blocks it can never land. */
  lose(payer: StackWallet, blob: string, submit: Submit): Promise<void>;
  /**
   * Removes the newest block with a transaction, which only the service then broadcasts again; null on a chain without
   * reorgs.
   */
  readonly orphan: (() => Promise<unknown>) | null;
  stop(): Promise<void>;
}

/** A Tempo wallet may choose a shorter lifetime than proposed; a payment is provably dropped only when it is over. */
const TEMPO_LIFETIME_SECONDS = 10;

type Sign = (blob: string, payer: StackWallet) => Promise<string>;

/** Arms a control, then signs and submits the payment that it hits. */
const withControl =
  (chain: StackChain, verb: 'drop' | 'fail', sign: Sign) =>
  async (payer: StackWallet, blob: string, submit: Submit): Promise<void> => {
    const armed = await controlsOf(chain)[verb]({ payer: payer.address });
    try {
      await submit(await sign(blob, payer));
      await armed.done;
    } finally {
      await armed.end();
    }
  };

async function base(): Promise<TroubledChain> {
  const anvil = await startAnvil();
  const sign: Sign = (blob, payer) => walletOn(anvil, payer).sign(blob);
  return {
    chain: anvil,
    pass: () => anvil.mine(),
    fail: withControl(anvil, 'fail', sign),
    lose: withControl(anvil, 'drop', sign),
    orphan: () => anvil.rpc('anvil_reorg', 1, []),
    stop: () => anvil.stop(),
  };
}

async function solana(): Promise<TroubledChain> {
  const node = await startSolana();
  const sign: Sign = (blob, payer) => walletOn(node, payer).sign(blob);
  return {
    chain: node,
    pass: async () => void (await node.advance()),
    fail: withControl(node, 'fail', sign),
    lose: withControl(node, 'drop', sign),
    orphan: () => node.reorg(2),
    stop: () => node.stop(),
  };
}

async function tempo(): Promise<TroubledChain> {
  const anvil = await startTempo();
  const sign: Sign = (blob, payer) => walletOn(anvil, payer).sign(blob);
  const shortLived: Sign = (blob, payer) =>
    tempoWallet(anvil, payer).sign(blob, (transaction) => ({
      ...transaction,
      validBefore: Math.floor(Date.now() / 1000) + TEMPO_LIFETIME_SECONDS,
    }));
  return {
    chain: anvil,
    pass: () => anvil.mine(),
    fail: withControl(anvil, 'fail', sign),
    lose: withControl(anvil, 'drop', shortLived),
    orphan: null,
    stop: () => anvil.stop(),
  };
}

export const startTroubled = { base, solana, tempo } as const;
