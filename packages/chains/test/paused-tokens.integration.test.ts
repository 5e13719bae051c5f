import { afterEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { setPaused } from '@pf/testing/wallets';
import { encodeFunctionData, type Hex } from 'viem';
import { Abis } from 'viem/tempo';
import type { ChainAdapter, SignedTransaction } from '../src/index.ts';
import { BaseObserver } from '../src/base/observer.ts';
import { SolanaObserver } from '../src/solana/observer.ts';
import { TempoObserver } from '../src/tempo/observer.ts';
import { startBase } from './base/chain.ts';
import type { ChainUnderTest, PayerWallet } from './conformance/suite.ts';
import { named, Watcher } from './conformance/watching.ts';
import { startSolana } from './solana/chain.ts';
import { startTempoUnderTest } from './tempo/chain.ts';

interface Paused {
  readonly chain: ChainUnderTest;
  readonly watcher: Watcher;
  readonly symbol: string;
  /** As the token's issuer does. */
  readonly pause: (isPaused: boolean) => Promise<unknown>;
}

const onBase = async (): Promise<Paused> => {
  const chain = await startBase();
  const usdc = chain.anvil.tokens['USDC'] ?? '';
  return {
    chain,
    watcher: new Watcher(new BaseObserver(chain.adapter.network, chain.pool, chain.clock.now)),
    symbol: 'USDC',
    pause: (isPaused) => chain.anvil.asTokenOwner(usdc, isPaused ? 'pause' : 'unpause'),
  };
};

const onTempo = async (): Promise<Paused> => {
  const chain = await startTempoUnderTest();
  const { tempo } = chain;
  const usdc = tempo.tokens['USDC'] as Hex;
  const owner = (await tempo.rpc<readonly Hex[]>('eth_accounts'))[tempo.wallets.length] ?? '0x';
  for (const functionName of ['PAUSE_ROLE', 'UNPAUSE_ROLE'] as const) {
    const data = encodeFunctionData({ abi: Abis.tip20, functionName });
    const role = await tempo.rpc<Hex>('eth_call', { to: usdc, data }, 'latest');
    await tempo.asTokenOwner(
      usdc,
      encodeFunctionData({ abi: Abis.tip20, functionName: 'grantRole', args: [role, owner] }),
    );
  }
  return {
    chain,
    watcher: new Watcher(new TempoObserver(chain.adapter.network, chain.pool, () => chain.now())),
    symbol: 'USDC',
    pause: (isPaused) =>
      tempo.asTokenOwner(
        usdc,
        encodeFunctionData({ abi: Abis.tip20, functionName: isPaused ? 'pause' : 'unpause', args: [] }),
      ),
  };
};

const onSolana = async (): Promise<Paused> => {
  const chain = await startSolana();
  const { node } = chain;
  return {
    chain,
    watcher: new Watcher(new SolanaObserver(chain.adapter.network, chain.pool, chain.clock.now)),
    symbol: 'PYUSD',
    pause: async (isPaused) => {
      await setPaused(node, node.tokens['PYUSD'] ?? '', isPaused);
      await node.advance();
    },
  };
};

describe.each([
  ['Base', onBase],
  ['Tempo', onTempo],
  ['Solana', onSolana],
])('a token on %s whose issuer pauses it', (_name, start) => {
  let paused: Paused;
  afterEach(() => paused.chain.stop());

  const isPaused = { kind: 'rejected', reason: expect.stringContaining('paused') };
  const newTerms = (): PaymentTerms => {
    const { chain } = paused;
    const token = chain.adapter.token(paused.symbol);
    if (token === null) throw new Error(`the network has ${paused.symbol}`);
    return {
      chain: chain.adapter.network.chain,
      tokenAddress: token.address,
      amount: 3_000_000n,
      requestor: chain.newRecipient(),
      reference: chain.adapter.newReference(),
    };
  };
  const requestOf = (terms: PaymentTerms, fulfiller: Address): Parameters<ChainAdapter['build']>[0] => ({
    intentId: 'pi_paused' as IntentId,
    terms,
    direction: 'request',
    fulfiller,
    expiresAt: paused.chain.now() + 3_600_000,
  });
  async function signed(terms: PaymentTerms, payer: PayerWallet): Promise<SignedTransaction> {
    const { adapter } = paused.chain;
    const built = await adapter.build(requestOf(terms, payer.address));
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const parsed = adapter.parseSubmitted(await payer.sign(built.transaction.blob));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(JSON.stringify(parsed));
    return parsed.value.transaction;
  }

  it('is not built or verified, fails where it lands, and pays when it is resumed', async () => {
    paused = await start();
    const { chain, watcher, pause } = paused;
    const { adapter } = chain;
    const payer = chain.payers[0] as PayerWallet;
    await watcher.step();
    /** What is observed until everything so far is final. */
    const landed = async (): Promise<readonly string[]> => {
      const seen: string[] = [];
      for (const move of [() => chain.land(), () => chain.settle(), () => chain.finalize()]) {
        await move();
        seen.push(...named(await watcher.step()));
      }
      return seen;
    };
    const terms = newTerms();
    watcher.watched.add('pi_paused', terms);
    const transaction = await signed(terms, payer);
    const verification = await adapter.verify(transaction, terms, payer.address, false);
    if (verification.kind !== 'verified') throw new Error(JSON.stringify(verification));

    await pause(true);
    expect(await adapter.build(requestOf(terms, payer.address))).toMatchObject(isPaused);
    expect(await adapter.verify(transaction, terms, payer.address, false)).toMatchObject(isPaused);
    const authorization = await adapter.authorizations?.build(requestOf(terms, payer.address));
    if (authorization !== undefined) expect(authorization).toMatchObject(isPaused);

    watcher.watched.submit(verification.transaction, chain.now());
    expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
    expect(await landed()).toEqual(['reverted']);

    await pause(false);
    const again = await signed(terms, payer);
    expect(await adapter.broadcast(again)).toEqual({ kind: 'taken' });
    expect((await landed()).at(-1)).toBe('landed finalized');
  });
});
