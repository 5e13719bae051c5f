import { controlsOf } from '@pf/chain-controls';
import {
  type StackChain,
  type StackWallet,
  startAnvil,
  startSolana,
  startTempo,
  tempoWallet,
  walletOn,
} from '@pf/testing';

/** Submits signed bytes; resolves with the hash. */
type Submit = (signed: string) => Promise<string>;

/** A chain of a test's own, whose blocks come when the test says, and which does to a payment what tests are about. */
export interface TroubledChain {
  readonly chain: StackChain;
  /** A block or slot passes. */
  pass(): Promise<void>;
  /** Signs and submits a payment that was good when it was simulated, and fails on chain. */
  fail(payer: StackWallet, blob: string, submit: Submit): Promise<void>;
  /** Signs and submits a payment that is lost on its way, and can never land once blocks pass. */
  lose(payer: StackWallet, blob: string, submit: Submit): Promise<void>;
  /**
   * The newest block that has a transaction never was, and only the service sends it again; null on a chain where
   * a block is final.
   */
  readonly orphan: (() => Promise<unknown>) | null;
  stop(): Promise<void>;
}

/** A wallet on Tempo may choose a shorter life than was proposed: only its end proves that a payment is lost. */
const TEMPO_LIFETIME_SECONDS = 10;

type Sign = (blob: string, payer: StackWallet) => Promise<string>;

/** Signs and submits a payment, and does to it what the control does. */
const struck =
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
    fail: struck(anvil, 'fail', sign),
    lose: struck(anvil, 'drop', sign),
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
    fail: struck(node, 'fail', sign),
    lose: struck(node, 'drop', sign),
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
    fail: struck(anvil, 'fail', sign),
    lose: struck(anvil, 'drop', shortLived),
    orphan: null,
    stop: () => anvil.stop(),
  };
}

export const startTroubled = { base, solana, tempo } as const;
