import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, Deposit, DepositObservation, IntentId, PaymentTerms, Reference } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { type TempoWallet, tempoWallet } from '@pf/testing/wallets';
import { encodeFunctionData, erc20Abi, getAddress, type Hex, keccak256, parseAbi, toHex } from 'viem';
import { encodePayment } from '../../src/tempo/calldata.ts';
import { GUARD, TRANSFER, TRANSFER_WITH_MEMO } from '../../src/tempo/observe/landings.ts';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { startTempoUnderTest, tempoPool, type TempoUnderTest } from './chain.ts';

const AMOUNT = 2_000_000n;
const UNKNOWN = `0x${'77'.repeat(32)}` as const;
const VIRTUAL = getAddress(`0x12345678${'fd'.repeat(10)}010203040506`) as string as Address;
const word = (hex: string): Hex => `0x${hex.slice(2).toLowerCase().padStart(64, '0')}`;

/** An entry of eth_getLogs. */
interface RpcLog {
  readonly topics: readonly string[];
}

describe('A transfer on Tempo to a recipient of intents that pays none', () => {
  let chain: TempoUnderTest;
  let proxy: RpcProxy;
  let second: RpcProxy;
  let closing: (() => Promise<void>)[];
  let watcher: Watcher;
  let payer: TempoWallet;
  let usdc: Hex;
  let recipient: Address;
  let terms: PaymentTerms;
  beforeEach(async () => {
    chain = await startTempoUnderTest();
    proxy = await startRpcProxy(chain.tempo.rpcUrl);
    second = await startRpcProxy(chain.tempo.rpcUrl);
    closing = [() => proxy.stop(), () => second.stop(), () => chain.stop()];
    watcher = new Watcher(newObserver());
    const [wallet] = chain.tempo.wallets;
    const token = chain.adapter.token('USDC');
    if (wallet === undefined || token === null) throw new Error('Tempo has wallets and USDC');
    payer = tempoWallet(chain.tempo, wallet);
    usdc = token.address as string as Hex;
    recipient = newRecipient('acc_1', 'pi_1');
    await watcher.step();
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  function newObserver(urls = [proxy.url]): TempoObserver {
    const pool = tempoPool(urls);
    closing.unshift(() => pool.close());
    return new TempoObserver(chain.adapter.network, pool, () => chain.now());
  }
  /** Of an intent of this account. */
  function newRecipient(account: string, intent: string, at = chain.newRecipient()): Address {
    const token = chain.adapter.token('USDC');
    if (token === null) throw new Error('Tempo has USDC');
    const { chain: network } = chain.adapter.network;
    const reference = chain.adapter.newReference();
    terms = { chain: network, tokenAddress: token.address, amount: AMOUNT, requestor: at, reference };
    watcher.watched.add(intent, terms);
    watcher.watched.own(at, account);
    return at;
  }
  const calldata = (to: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as string as Hex, amount] });
  async function pay(amount = AMOUNT, memo?: string, symbol = 'USDC', to = recipient): Promise<string> {
    const hash = await payer.transfer(chain.tempo.tokens[symbol] ?? '', to, amount, memo as Hex | undefined);
    await chain.tempo.mine();
    return hash;
  }
  /** Calls USDC so often in one transaction. */
  async function batch(...calls: readonly Hex[]): Promise<string> {
    const [from] = chain.payers;
    if (from === undefined) throw new Error('Tempo has payers');
    const built = await chain.adapter.build({
      intentId: 'pi_test' as IntentId,
      terms,
      direction: 'request',
      fulfiller: from.address,
      expiresAt: chain.now() + 3_600_000,
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const signed = await from.sign(built.transaction.blob, (transaction) => ({
      ...transaction,
      gas: 3_000_000n,
      calls: calls.map((data) => ({ to: usdc, data })),
    }));
    const hash = await chain.tempo.rpc<string>(
      'eth_sendRawTransaction',
      `0x${Buffer.from(signed, 'base64').toString('hex')}`,
    );
    await chain.tempo.mine();
    return hash;
  }
  const deposits = (): readonly Deposit[] => [...watcher.watched.deposits.values()];
  /** The blocks are read a second time, which takes two pauses. */
  async function readAgain(): Promise<void> {
    for (let pause = 0; pause < 2; pause += 1) {
      await chain.pass(15_000);
      await watcher.step();
    }
  }

  it('is a deposit that is final at once, and told once, by one call that reads no receipt', async () => {
    proxy.calls.clear();
    const hash = await pay();
    await watcher.step();
    expect(deposits()).toMatchObject([
      {
        accountId: 'acc_1',
        level: 'finalized',
        reason: 'no_reference',
        arrival: { hash, from: payer.address, to: recipient, amount: AMOUNT, reference: null },
      },
    ]);
    expect(deposits()[0]?.arrival.token).toEqual({ symbol: 'USDC.e', decimals: 6 });
    expect(proxy.calls.get('eth_getLogs')).toBe(1);
    expect(proxy.calls.get('eth_getTransactionReceipt')).toBeUndefined();
    await readAgain();
    watcher = watcher.restart(newObserver());
    await readAgain();
    expect(deposits()).toMatchObject([{ version: 1 }]);
    await chain.pass(15_000);
    expect((await watcher.stepOnce()).deposits).toEqual([]);
  });

  it('is not asked for where deposits are not', async () => {
    watcher.watched.hasDeposits = false;
    await pay();
    await watcher.step();
    await readAgain();
    expect(deposits()).toEqual([]);
  });

  it('is one deposit where its memo names no intent', async () => {
    await pay(AMOUNT, UNKNOWN);
    await watcher.step();
    expect(deposits()).toMatchObject([
      { reason: 'unknown_reference', arrival: { index: '1', amount: AMOUNT, reference: UNKNOWN } },
    ]);
  });

  it('is a deposit for each of two memos in one transaction', async () => {
    const memo = (reference: string, amount: bigint): Hex =>
      encodePayment({ to: recipient, amount, reference: reference as Reference });
    await batch(memo(UNKNOWN, 1n), memo(`0x${'78'.repeat(32)}`, 2n));
    await watcher.step();
    expect(deposits().map(({ arrival }) => arrival.amount)).toEqual([1n, 2n]);
  });

  it('is a deposit in any token of the registry', async () => {
    await pay(5n, undefined, 'AlphaUSD');
    await watcher.step();
    expect(deposits()).toMatchObject([{ arrival: { amount: 5n, token: { symbol: 'AlphaUSD' } } }]);
  });

  it('is a deposit without a sender where the token was minted', async () => {
    const abi = parseAbi(['function mint(address to, uint256 amount)']);
    const data = encodeFunctionData({ abi, functionName: 'mint', args: [recipient as string as Hex, 5n] });
    await chain.tempo.asTokenOwner(usdc, data);
    await watcher.step();
    expect(deposits()).toMatchObject([{ reason: 'no_reference', arrival: { from: null, amount: 5n } }]);
  });

  it('is a deposit at a virtual address, for which the same call tells whether the guard has it', async () => {
    newRecipient('acc_2', 'pi_virtual', VIRTUAL);
    const filters: (readonly (readonly string[] | null)[])[] = [];
    proxy.respond = ({ method, params: [filter] }) => {
      if (method === 'eth_getLogs') filters.push((filter as { topics: (readonly string[])[] }).topics);
      return undefined;
    };
    await pay(9n, undefined, 'USDC', VIRTUAL);
    await watcher.step();
    expect(deposits()).toMatchObject([{ accountId: 'acc_2', arrival: { to: VIRTUAL, amount: 9n } }]);
    expect(filters).toHaveLength(1);
    expect(filters[0]?.[2]).toContain(word(GUARD));
  });

  it('is a deposit to each of two recipients of one batch, of the account of each', async () => {
    const other = newRecipient('acc_2', 'pi_2');
    await batch(calldata(recipient, 3n), calldata(other, 4n));
    await watcher.step();
    expect(deposits()).toMatchObject([
      { accountId: 'acc_1', arrival: { to: recipient, amount: 3n } },
      { accountId: 'acc_2', arrival: { to: other, amount: 4n } },
    ]);
  });

  it('is a deposit beside the payment of an intent in one transaction, which is none', async () => {
    const { reference } = terms;
    await batch(encodePayment({ to: recipient, amount: AMOUNT, reference }), calldata(recipient, 7n));
    expect(await watcher.step()).toMatchObject([
      { intentId: 'pi_1', type: 'landed', data: { level: 'finalized', transfer: { amount: AMOUNT } } },
    ]);
    expect(deposits()).toMatchObject([{ arrival: { to: recipient, amount: 7n } }]);
    await readAgain();
    expect(deposits()).toMatchObject([{ version: 1 }]);
  });

  it('is none where it pays an intent with another amount, or nothing arrives', async () => {
    await pay(AMOUNT - 1n, terms.reference);
    await pay(0n);
    expect(await watcher.step()).toMatchObject([{ type: 'landed' }]);
    await readAgain();
    expect(deposits()).toEqual([]);
  });

  it('is not told of by an early look, but when all recipients are read', async () => {
    for (let n = 0; n < 1_000; n += 1) newRecipient('acc_2', `pi_other_${n}`);
    await chain.pass(15_000);
    await watcher.step();
    watcher.watched.await({ ...terms, requestor: recipient });
    await pay();
    await watcher.step();
    expect(deposits()).toEqual([]);
    await chain.pass(15_000);
    await watcher.step();
    expect(deposits()).toMatchObject([{ level: 'finalized' }]);
  });

  it('delays no payment and no other account where thousands come in a block, and none is left out', async () => {
    const COUNT = 1_300;
    const other = newRecipient('acc_2', 'pi_2');
    const paid = terms;
    await chain.tempo.mine();
    const block = await chain.tempo.rpc<{ number: Hex; hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    const log = (index: number, to: Address, event: string, hash: Hex, ...more: readonly string[]): object => ({
      address: usdc,
      topics: [event, word(`0x${'66'.repeat(20)}`), word(to), ...more],
      data: word(toHex(AMOUNT)),
      blockNumber: block.number,
      blockHash: block.hash,
      transactionHash: hash,
      transactionIndex: '0x0',
      logIndex: toHex(index),
      removed: false,
    });
    const flood = Array.from({ length: COUNT }, (_, index) =>
      log(index, recipient, TRANSFER, keccak256(toHex(`flood ${index}`))),
    );
    const [hash, paying] = [keccak256(toHex('other')), keccak256(toHex('paying'))];
    const payment = [
      log(COUNT + 1, other, TRANSFER, paying),
      log(COUNT + 2, other, TRANSFER_WITH_MEMO, paying, paid.reference),
    ];
    const all = [...flood, log(COUNT, other, TRANSFER, hash), ...payment];
    proxy.respond = ({ method, params: [asked] }) => {
      if (method === 'eth_getTransactionReceipt' && asked === paying)
        return {
          transactionHash: paying,
          status: '0x1',
          blockNumber: block.number,
          blockHash: block.hash,
          from: `0x${'66'.repeat(20)}`,
          logs: payment,
        };
      if (method !== 'eth_getLogs') return undefined;
      const { fromBlock, toBlock } = asked as { readonly fromBlock: Hex; readonly toBlock: Hex };
      return BigInt(fromBlock) <= BigInt(block.number) && BigInt(block.number) <= BigInt(toBlock) ? all : [];
    };
    const step = await watcher.stepOnce();
    expect(step).toMatchObject({ behind: 0n, observations: [{ intentId: 'pi_2', type: 'landed' }] });
    expect(step.deposits).toHaveLength(200);
    expect(deposits().filter(({ accountId }) => accountId === 'acc_2')).toHaveLength(1);
    await readAgain();
    expect(deposits().length).toBeLessThan(COUNT + 1);
    await watcher.step();
    expect(deposits().filter(({ level, version }) => level === 'finalized' && version === 1)).toHaveLength(COUNT + 1);
  });

  describe('with two upstreams', () => {
    let told: DepositObservation['type'][];
    beforeEach(() => {
      watcher = watcher.restart(newObserver([proxy.url, second.url]));
      told = [];
    });
    async function step(): Promise<void> {
      const { deposits: observed = [] } = await watcher.stepOnce();
      told.push(...observed.map(({ type }) => type));
    }

    it('is confirmed by the first reading, and final by that of another upstream, without any receipt', async () => {
      await pay();
      await step();
      expect(deposits()).toMatchObject([{ level: 'confirmed' }]);
      await readAgain();
      expect(deposits()).toMatchObject([{ level: 'finalized', version: 2 }]);
      for (const one of [proxy, second]) expect(one.calls.get('eth_getTransactionReceipt')).toBeUndefined();
    });

    it('is final by its receipts where the second upstream leaves it out of its logs', async () => {
      second.respond = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
      await pay();
      await readAgain();
      await step();
      expect(deposits()).toMatchObject([{ level: 'confirmed', version: 1 }]);
      await chain.pass(30_000);
      await step();
      expect(deposits()).toMatchObject([{ level: 'finalized', version: 2 }]);
    });

    it('stays confirmed where one upstream has made it up', async () => {
      await chain.tempo.mine();
      const block = await chain.tempo.rpc<{ number: Hex; hash: Hex }>('eth_getBlockByNumber', 'latest', false);
      proxy.respond = ({ method }) =>
        method === 'eth_getLogs'
          ? [
              {
                address: usdc,
                topics: [TRANSFER, word(`0x${'66'.repeat(20)}`), word(recipient)],
                data: word(toHex(AMOUNT)),
                blockNumber: block.number,
                blockHash: block.hash,
                transactionHash: `0x${'f0'.repeat(32)}`,
                logIndex: '0x0',
                removed: false,
              },
            ]
          : undefined;
      await step();
      proxy.respond = () => undefined;
      await readAgain();
      await chain.pass(60_000);
      await step();
      await chain.pass(60_000);
      await step();
      expect(deposits()).toMatchObject([{ level: 'confirmed', version: 1 }]);
    });

    it('is withdrawn where it is the payment of an intent, whose memo the first upstream has left out', async () => {
      proxy.respond = async ({ method, params: [filter] }) =>
        method === 'eth_getLogs'
          ? (await chain.tempo.rpc<RpcLog[]>(method, filter)).filter(({ topics }) => topics[0] === TRANSFER)
          : undefined;
      await pay(AMOUNT, terms.reference);
      await step();
      expect(deposits()).toMatchObject([{ level: 'confirmed' }]);
      proxy.respond = () => undefined;
      await chain.pass(15_000);
      const first = await watcher.step();
      await chain.pass(15_000);
      expect([...first, ...(await watcher.step())]).toMatchObject([{ type: 'landed', intentId: 'pi_1' }]);
      expect(deposits()).toMatchObject([{ level: 'withdrawn', version: 2 }]);
      expect(told).toEqual(['deposit_landed']);
    });
  });
});
