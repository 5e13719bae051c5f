import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, PaymentTerms } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { until } from '@pf/testing';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { bundle, installEntryPoint, newSmartWallet, type SmartCall } from '@pf/testing/wallets';
import { concat, encodeFunctionData, erc20Abi, type Hex, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { type BaseUnderTest, poolOver, startBase } from './chain.ts';
import {
  batchOf,
  callingCode,
  contractOn,
  type DelegatedAccount,
  delegatedOn,
  executeOf,
  loggingCode,
  MODES,
  newAddress,
  puppetOn,
} from './contracts.ts';

const AMOUNT = 2_000_000n;
const POKE = '0x12345678';
/** Fails whatever it is sent. */
const FAILS = '60006000fd';
const NO_REFERENCE = `0x${'00'.repeat(32)}`;

let base: BaseUnderTest;
let proxy: RpcProxy;
let pool: RpcPool;
let usdc: string;
let watcher: Watcher;
beforeAll(async () => {
  base = await startBase();
  proxy = await startRpcProxy(base.anvil.rpcUrl);
  pool = poolOver([proxy.url]);
  usdc = base.anvil.tokens['USDC'] ?? '';
  await installEntryPoint(base.anvil, '0.7');
}, 60_000);
afterAll(async () => {
  await pool.close();
  await proxy.stop();
  await base.stop();
});
beforeEach(async () => {
  proxy.faults = [];
  watcher = new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now));
  await base.finalize();
  await watcher.step();
});

function expectPayment(): PaymentTerms {
  const token = base.adapter.token('USDC');
  if (token === null) throw new Error('Base has USDC');
  const { chain } = base.adapter.network;
  const [requestor, reference] = [base.newRecipient(), base.adapter.newReference()];
  const terms = { chain, tokenAddress: token.address, amount: AMOUNT, requestor, reference };
  watcher.watched.add('pi_1', terms);
  return terms;
}
const mint = (to: string): Promise<void> => base.anvil.asTokenOwner(usdc, 'mint', [to, 10n * AMOUNT]);
const callOf = ({ requestor, amount, reference }: PaymentTerms): SmartCall => ({
  to: usdc,
  data: encodePayment(requestor, amount, reference) as Hex,
});
const approvalOf = (spender: string): SmartCall => ({
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender as Hex, AMOUNT] }),
});
/** A contract that pulls the amount from an account to the requestor, whoever calls it: a subscription, say. */
const spenderOf = (account: string, { requestor }: PaymentTerms): Promise<Address> => {
  const args = [account as Hex, requestor as string as Hex, AMOUNT] as const;
  return puppetOn(base.anvil, [
    { target: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args }) },
  ]);
};
async function delegated(): Promise<DelegatedAccount> {
  const account = await delegatedOn(base.anvil);
  await mint(account.address);
  return account;
}
const without = (...methods: readonly string[]): void => {
  proxy.faults = [{ kind: 'refuse', reason: 'method not found', methods }];
};
/** What is observed in a step, and two seconds later. */
async function observed(): Promise<readonly string[]> {
  const first = await watcher.step();
  await base.settle();
  return [...first, ...(await watcher.step())].map((one) =>
    one.type === 'landed'
      ? `${one.data.transfer.reference === NO_REFERENCE ? 'unproven' : 'paid'} ${one.data.level}`
      : one.type,
  );
}
/** On a busy machine a trace or a receipt may be late: it is then read beside the steps. */
const observedSoon = (): Promise<readonly string[]> =>
  until('something to be observed', async () => {
    const found = await observed();
    return found.length > 0 && found;
  });

/** And within some minutes. */
async function observedInTheEnd(): Promise<readonly string[]> {
  const all = [...(await observed())];
  for (let looks = 0; looks < 5; looks += 1) {
    base.clock.pass(60_000);
    all.push(...(await observed()));
  }
  return all;
}

describe.each<[string, readonly string[]]>([
  ['traces', []],
  ['the calls of tokens alone', ['debug_traceTransaction']],
])('with %s, a payment that the account has named', (_what, lacking) => {
  /** What a spender has pulled is never the payment; where no trace tells that, it is told of as unproven. */
  const expectNone = async (terms: PaymentTerms): Promise<void> => {
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
    without(...lacking);
    expect(await observedInTheEnd()).toEqual(lacking.length === 0 ? [] : ['unproven confirmed']);
  };
  const expectPaid = async (terms: PaymentTerms): Promise<void> => {
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
    without(...lacking);
    expect(await observedInTheEnd()).toEqual(['paid confirmed']);
  };

  it('counts where an EIP-7702 account made it', async () => {
    const terms = expectPayment();
    const account = await delegated();
    await account.execute(MODES.batch, batchOf([callOf(terms)]));
    await expectPaid(terms);
  });

  it('counts where the operation of a smart account made it', async () => {
    const terms = expectPayment();
    const wallet = await newSmartWallet(base.anvil, '0.7');
    await mint(wallet.address);
    await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf([callOf(terms)]))]);
    await expectPaid(terms);
  });

  it('does not count where it was undone, and a spender pulled as much from an EIP-7702 account', async () => {
    const terms = expectPayment();
    const account = await delegated();
    const spender = await spenderOf(account.address, terms);
    const failing = await contractOn(base.anvil, FAILS);
    await account.execute(MODES.batch, batchOf([approvalOf(spender)]));
    const undone = executeOf(MODES.batch, batchOf([callOf(terms), { to: failing, data: '0x' }]));
    const calls = [
      { to: account.address, data: undone },
      { to: spender, data: POKE },
    ] as const;
    await account.execute(MODES.tryBatch, batchOf(calls));
    await expectNone(terms);
  });

  it('does not count where the account had other code, which had a spender pull as much', async () => {
    const terms = expectPayment();
    const wallet = await newSmartWallet(base.anvil, '0.7');
    await mint(wallet.address);
    const spender = await spenderOf(wallet.address, terms);
    await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf([approvalOf(spender)]))]);
    // It takes all operations for valid, and calls the spender in place of what they say.
    const operation = await wallet.operation(wallet.calldataOf([callOf(terms)]));
    await base.anvil.rpc('anvil_setCode', wallet.address, `0x${callingCode(spender)}60206000f3`);
    await bundle(base.anvil, '0.7', [operation]);
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
    without(...lacking);
    // Among the calls of tokens there is none that names the payment.
    expect(await observedInTheEnd()).toEqual([]);
  });
});

describe('a payment that whoever brings it to the chain has made too long', () => {
  /** What anyone may execute, such as the signed transaction of a Safe, within a contract that does more beside it. */
  async function bring(terms: PaymentTerms, beside: string): Promise<void> {
    const safe = await puppetOn(base.anvil, [{ target: usdc, data: callOf(terms).data }]);
    await mint(safe);
    const wrapper = await contractOn(base.anvil, `${beside}${callingCode(safe)}00`);
    const [from] = base.anvil.wallets;
    const data = concat([POKE, callOf(terms).data]);
    const transaction = { from: from?.address, to: wrapper, data, gas: toHex(16_000_000) };
    await base.anvil.rpc('eth_sendTransaction', transaction);
    await base.anvil.mine();
    expect(await base.balanceOf(terms.requestor)).toBe(AMOUNT);
  }
  /** A trace of 12 MB. */
  const longTrace = callingCode(newAddress(), 600_000).repeat(10);

  it('counts behind a long trace', async () => {
    await bring(expectPayment(), longTrace);
    expect(await observedSoon()).toEqual(['paid confirmed']);
  });

  it('counts behind a long receipt', async () => {
    await bring(expectPayment(), loggingCode(20_000));
    expect(await observedSoon()).toEqual(['paid confirmed']);
  });

  it('waits with a warning, and is no payment for another, until an upstream can show it', async () => {
    await bring(expectPayment(), longTrace);
    without('trace_filter');
    expect(await observedInTheEnd()).toEqual([]);
    // On a busy machine a long trace is late before it is read.
    const why = / is set aside: (?:its trace cannot be read|it was not returned in time)$/;
    expect(watcher.warnings).toContainEqual(expect.stringMatching(why));
    proxy.faults = [];
    // By then the upstream is asked again for what it lacked, and what is set aside is due.
    base.clock.pass(5 * 60_000);
    expect(await observedSoon()).toContain('paid confirmed');
  });
});

// The last one: what an upstream does not have is remembered for a while.
it('counts by its calldata where no upstream has any traces', async () => {
  const terms = expectPayment();
  const account = await delegated();
  await account.execute(MODES.batch, batchOf([callOf(terms)]));
  const methods = ['debug_traceTransaction', 'trace_filter'];
  proxy.faults = [{ kind: 'refuse', reason: 'method not found', code: -32_601, methods }];
  expect(await observed()).toEqual(['paid confirmed']);
});
