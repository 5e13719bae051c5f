import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, Deposit, PaymentTerms } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type EvmWallet, evmWallet } from '@pf/testing/wallets';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { type BaseUnderTest, poolOver, startBase } from './chain.ts';
import { puppetOn } from './contracts.ts';

const AMOUNT = 2_000_000n;

let base: BaseUnderTest;
let pool: RpcPool;
let usdc: string;
let payer: EvmWallet;
let watcher: Watcher;
let recipient: Address;
let terms: PaymentTerms;
beforeAll(async () => {
  base = await startBase();
  pool = poolOver([base.anvil.rpcUrl]);
  usdc = base.anvil.tokens['USDC'] ?? '';
  const [wallet] = base.anvil.wallets;
  if (wallet === undefined) throw new Error('anvil has wallets');
  payer = evmWallet(base.anvil, wallet);
});
afterAll(async () => {
  await pool.close();
  await base.stop();
});
beforeEach(async () => {
  watcher = new Watcher(newObserver());
  const token = base.adapter.token('USDC');
  if (token === null) throw new Error('Base has USDC');
  recipient = base.newRecipient();
  const { chain } = base.adapter.network;
  const reference = base.adapter.newReference();
  terms = { chain, tokenAddress: token.address, amount: AMOUNT, requestor: recipient, reference };
  watcher.watched.add('pi_1', terms);
  watcher.watched.own(recipient, 'acc_1');
  await base.finalize();
  await watcher.step();
});
const newObserver = () => new BaseObserver(base.adapter.network, pool, base.clock.now);
const pay = (amount: bigint, data?: Hex): Promise<Hex> => payer.transfer(usdc, recipient, amount, data);
/** Two steps: it is seen, and stays. */
async function observe(): Promise<readonly Deposit[]> {
  await base.anvil.mine();
  await watcher.step();
  base.clock.pass(2_000);
  await watcher.step();
  return [...watcher.watched.deposits.values()];
}

describe('A transfer to a recipient of intents that pays none', () => {
  it('is a deposit, confirmed and then final, and told once', async () => {
    const hash = await pay(AMOUNT);
    const [deposit, ...others] = await observe();
    expect(others).toEqual([]);
    expect(deposit).toMatchObject({
      accountId: 'acc_1',
      level: 'confirmed',
      reason: 'no_reference',
      arrival: { hash, from: payer.address, to: recipient, amount: AMOUNT, reference: null },
    });
    expect(deposit?.arrival.token).toEqual({ symbol: 'USDC', decimals: 6 });
    expect(deposit?.arrival.at).toBeGreaterThan(Date.now() - 86_400_000);
    // Read again where it is safe, by a process that remembers nothing, and a minute later.
    watcher = watcher.restart(newObserver());
    base.clock.pass(60_000);
    await watcher.step();
    await base.finalize();
    await watcher.step();
    expect([...watcher.watched.deposits.values()]).toMatchObject([{ level: 'finalized', version: 2 }]);
    base.clock.pass(60_000);
    expect((await watcher.stepOnce()).deposits).toEqual([]);
  });

  it('is a deposit of each account whose intents name the recipient', async () => {
    watcher.watched.own(recipient, 'acc_1', 'acc_2');
    await pay(AMOUNT);
    expect((await observe()).map(({ accountId }) => accountId)).toEqual(['acc_1', 'acc_2']);
  });

  it('says that it carries a reference which no intent has', async () => {
    const reference: Hex = `0x${'77'.repeat(32)}`;
    await pay(AMOUNT, reference);
    expect(await observe()).toMatchObject([{ reason: 'unknown_reference', arrival: { reference } }]);
  });

  it('is a deposit without a sender where the token was minted', async () => {
    await base.anvil.asTokenOwner(usdc, 'mint', [recipient, 5n]);
    expect(await observe()).toMatchObject([{ arrival: { from: null, amount: 5n } }]);
  });

  it('is a deposit where a contract pays', async () => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [recipient as string as Hex, 7n],
    });
    const contract = await puppetOn(base.anvil, [{ target: usdc, data }]);
    await base.anvil.asTokenOwner(usdc, 'mint', [contract, 7n]);
    await payer.transfer(contract, recipient, 0n);
    expect(await observe()).toMatchObject([{ arrival: { from: contract, amount: 7n } }]);
  });

  it('is none where it pays an intent, or nothing arrives', async () => {
    await pay(AMOUNT, terms.reference as string as Hex);
    await pay(AMOUNT - 1n, terms.reference as string as Hex);
    await pay(0n);
    expect(await observe()).toEqual([]);
  });

  it('is reported again where the ledger does not have it after half a minute, and only once', async () => {
    await pay(AMOUNT);
    watcher.reaches = false;
    await observe();
    const told: number[] = [];
    for (let step = 0; step < 3; step++) {
      base.clock.pass(30_000);
      told.push((await watcher.stepOnce()).deposits?.length ?? 0);
    }
    expect(told).toEqual([1, 0, 0]);
  });
});
