import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { evmWallet, solanaWallet, type StackChain, type StackWallet, startAnvil, startSolana, startTempo, tempoWallet, until } from '../src/index.ts';

/** Submits signed bytes, again and again if need be; resolves with the hash. */
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
  /** The newest block that has a transaction never was; null on a chain where a block is final. */
  readonly orphan: (() => Promise<unknown>) | null;
  stop(): Promise<void>;
}

/** Wei per gas: more than any payment offers. */
const MUCH = 10n ** 11n;
const TEMPO_LIFETIME_SECONDS = 4;

async function base(): Promise<TroubledChain> {
  const anvil = await startAnvil();
  const usdc = anvil.tokens['USDC'] ?? '';
  const drop = (hash: string): Promise<unknown> => anvil.rpc('anvil_dropTransaction', hash);
  return {
    chain: anvil,
    pass: () => anvil.mine(),
    async fail(payer, blob, submit) {
      const wallet = evmWallet(anvil, payer);
      const signed = await wallet.sign(blob);
      await drop(await submit(signed));
      await anvil.asTokenOwner(usdc, 'blacklist', [wallet.address]);
      // What is live is broadcast again; the watcher would do so by itself a little later.
      await submit(signed);
    },
    async lose(payer, blob, submit) {
      const wallet = evmWallet(anvil, payer);
      await drop(await submit(await wallet.sign(blob)));
      const sender = createWalletClient({ account: privateKeyToAccount(payer.privateKey as `0x${string}`), transport: http(anvil.rpcUrl) });
      const nonce = await wallet.client.getTransactionCount({ address: wallet.address });
      await sender.sendTransaction({ chain: null, to: wallet.address, value: 0n, nonce, gas: 21_000n, maxFeePerGas: MUCH, maxPriorityFeePerGas: MUCH });
    },
    orphan: () => anvil.rpc('anvil_reorg', 1, []),
    stop: () => anvil.stop(),
  };
}

async function solana(): Promise<TroubledChain> {
  const node = await startSolana();
  return {
    chain: node,
    pass: async () => void (await node.advance()),
    async fail(payer, blob, submit) {
      await node.fail({ payer: payer.address });
      await submit(await solanaWallet(node, payer).sign(blob));
    },
    async lose(payer, blob, submit) {
      await node.drop({ payer: payer.address });
      await submit(await solanaWallet(node, payer).sign(blob));
      await node.expire();
      await node.heal();
    },
    orphan: () => node.reorg(2),
    stop: () => node.stop(),
  };
}

async function tempo(): Promise<TroubledChain> {
  const anvil = await startTempo();
  const usdc = anvil.tokens['USDC'] ?? '';
  return {
    chain: anvil,
    pass: () => anvil.mine(),
    async fail(payer, blob, submit) {
      const wallet = tempoWallet(anvil, payer);
      const signed = await wallet.sign(blob);
      await anvil.rpc('anvil_dropTransaction', await submit(signed));
      await wallet.transfer(usdc, anvil.wallets[0]?.address ?? '', (await wallet.tokenBalance(usdc)) - 1_000_000n);
      await anvil.mine();
      await submit(signed);
    },
    async lose(payer, blob, submit) {
      // A wallet may choose a shorter life than was proposed. No block may come before it is over: it would be sent again.
      const validBefore = Math.floor(Date.now() / 1000) + TEMPO_LIFETIME_SECONDS;
      await anvil.rpc('anvil_dropTransaction', await submit(await tempoWallet(anvil, payer).sign(blob, (transaction) => ({ ...transaction, validBefore }))));
      await until('the lifetime to be over', () => Date.now() > validBefore * 1000);
    },
    orphan: null,
    stop: () => anvil.stop(),
  };
}

export const startTroubled = { base, solana, tempo } as const;
