import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, Observation, PaymentTerms, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import {
  bundle,
  bundleOf,
  ENTRY_POINTS,
  type EntryPointVersion,
  installEntryPoint,
  newSmartWallet,
  sendAs,
  type SmartCall,
  type SmartWallet,
} from '@pf/testing/wallets';
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  getAddress,
  type Hex,
  pad,
  toHex,
} from 'viem';
import { BaseAdapter } from '../../src/base/adapter.ts';
import { encodePayment } from '../../src/base/calldata.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { rewindCursor, type Verification } from '../../src/index.ts';
import { Watcher } from '../conformance/watching.ts';
import { type BaseUnderTest, poolOver, startBase } from './chain.ts';
import {
  batchOf,
  type DelegatedAccount,
  delegatedOn,
  executeOf,
  learnOf,
  MODES,
  puppetOn,
  type PuppetStep,
} from './contracts.ts';

const VERSIONS = Object.keys(ENTRY_POINTS) as EntryPointVersion[];
const AMOUNT = 2_000_000n;
const ATTRIBUTION = '626173656170700700' + '80218021802180218021802180218021';
const NO_REFERENCE = `0x${'00'.repeat(32)}`;
let base: BaseUnderTest;
let proxy: RpcProxy;
let pool: RpcPool;
let usdc: string;
let wallets: Readonly<Record<EntryPointVersion, SmartWallet>>;
let adapter: BaseAdapter;
let watcher: Watcher;

beforeAll(async () => {
  base = await startBase();
  proxy = await startRpcProxy(base.anvil.rpcUrl);
  pool = poolOver([proxy.url]);
  adapter = new BaseAdapter(base.adapter.network, pool);
  usdc = base.anvil.tokens['USDC'] ?? '';
  const made: [EntryPointVersion, SmartWallet][] = [];
  for (const version of VERSIONS) {
    await installEntryPoint(base.anvil, version);
    made.push([version, await fundedWallet(version)]);
  }
  wallets = Object.fromEntries(made) as typeof wallets;
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

const mint = (to: string, units: bigint): Promise<void> => base.anvil.asTokenOwner(usdc, 'mint', [to, units]);
async function fundedWallet(version: EntryPointVersion, units = 100n * AMOUNT): Promise<SmartWallet> {
  const wallet = await newSmartWallet(base.anvil, version);
  await mint(wallet.address, units);
  return wallet;
}
async function delegatedAccount(units = 100n * AMOUNT): Promise<DelegatedAccount> {
  const account = await delegatedOn(base.anvil);
  await mint(account.address, units);
  return account;
}
const puppet = (steps: readonly PuppetStep[]): Promise<string> => puppetOn(base.anvil, steps);

let ids = 0;
/** A watched intent. */
function expectPayment(requestor = base.newRecipient()): { readonly id: string; readonly terms: PaymentTerms } {
  const token = base.adapter.token('USDC');
  if (token === null) throw new Error('Base has USDC');
  const terms = {
    chain: base.adapter.network.chain,
    tokenAddress: token.address,
    amount: AMOUNT,
    requestor,
    reference: base.adapter.newReference(),
  };
  const id = `pi_${(ids += 1)}`;
  watcher.watched.add(id, terms);
  return { id, terms };
}
const callOf = ({ requestor, amount, reference }: PaymentTerms): SmartCall => ({
  to: usdc,
  data: encodePayment(requestor, amount, reference) as Hex,
});
/** The same transfer without a reference. */
const plainOf = ({ requestor, amount }: PaymentTerms): SmartCall => ({
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [requestor as string as Hex, amount] }),
});

/** What is observed once it has been in its block for two seconds: the intent, and whether its reference is proven. */
async function observed(): Promise<readonly string[]> {
  const first = await watcher.step();
  await base.settle();
  const both: readonly Observation[] = [...first, ...(await watcher.step())];
  // Whether a report stands that this withdraws, only the writer knows.
  const all = both.filter(({ type }) => type !== 'disproved');
  return all.map((one) =>
    one.type === 'landed'
      ? `${one.intentId} ${one.data.transfer.reference === NO_REFERENCE ? 'unproven' : 'paid'} ${one.data.level}`
      : `${one.intentId} ${one.type}`,
  );
}
/** What is observed of a transfer that no upstream can trace: nothing at first, then what a minute brings. */
async function observedAfterAMinute(): Promise<readonly string[]> {
  expect(await observed()).toEqual([]);
  base.clock.pass(60_000);
  return observed();
}
async function verify(hash: Hex, terms: PaymentTerms, fulfiller: string): Promise<Verification> {
  const sent = await adapter.fetchSent(hash as string as TransactionHash);
  if (sent === null) throw new Error(`${hash} is not visible`);
  return adapter.verify(sent, terms, fulfiller as Address, true);
}
const paid = (...ids: readonly { readonly id: string }[]): string[] => ids.map(({ id }) => `${id} paid confirmed`);
const withoutReference = ({ reference }: PaymentTerms): Verification => ({
  kind: 'mismatch',
  differs: { reference: { expected: reference, actual: null } },
});
const withoutTraces = (methods: readonly string[] = ['debug_traceTransaction', 'trace_filter']): void => {
  proxy.faults = [{ kind: 'refuse', reason: 'method not found', methods }];
};
const traces = (): number => proxy.calls.get('debug_traceTransaction') ?? 0;

describe.each(VERSIONS)('a smart account of EntryPoint %s', (version) => {
  it('pays what build returned, found by its reference and accepted by the hash of the bundle', async () => {
    const wallet = wallets[version];
    const { id, terms } = expectPayment();
    const built = await adapter.build({
      intentId: id as IntentId,
      terms,
      direction: 'request',
      fulfiller: wallet.address as string as Address,
      expiresAt: 0,
    });
    expect(built).toMatchObject({ kind: 'built', transaction: { format: 'evm_rlp', estimatedFeeEth: null } });
    const hash = await bundle(base.anvil, version, [await wallet.operation(wallet.calldataOf([callOf(terms)]))]);
    expect(await verify(hash, terms, wallet.address)).toEqual({
      kind: 'verified',
      transaction: { hash, sender: wallet.address, nonce: null, lifetime: { kind: 'unlimited' }, terms },
    });
    expect(await observed()).toEqual(paid({ id }));
    expect(watcher.watched.byReference(terms.reference)?.settlement).toMatchObject({
      hash,
      transfer: { from: wallet.address, to: terms.requestor, amount: AMOUNT },
    });
  });

  it('pays several intents in one operation, each once, with an attribution behind the calls', async () => {
    const wallet = wallets[version];
    const [one, other] = [expectPayment(), expectPayment()];
    const calldata = wallet.calldataOf([callOf(one.terms), callOf(other.terms)]);
    const hash = await bundle(base.anvil, version, [await wallet.operation(concat([calldata, `0x${ATTRIBUTION}`]))]);
    for (const { terms } of [one, other])
      expect(await verify(hash, terms, wallet.address)).toMatchObject({ kind: 'verified' });
    expect(await observed()).toEqual(paid(one, other));
  });

  it('settles nothing by an operation that failed', async () => {
    const wallet = await fundedWallet(version, AMOUNT - 1n);
    const { terms } = expectPayment();
    const hash = await bundle(base.anvil, version, [await wallet.operation(wallet.calldataOf([callOf(terms)]))]);
    expect(await verify(hash, terms, wallet.address)).toMatchObject(withoutReference(terms));
    expect(await observed()).toEqual([]);
  });
});

describe('money that is sent back', () => {
  it('reaches people by their keys, smart accounts and delegations, and stays in other contracts', async () => {
    const people = [...Object.values(wallets), await delegatedAccount(), { address: base.newRecipient() }];
    for (const { address } of people) expect(await adapter.refundProblem(address as Address)).toBeNull();
    for (const contract of [usdc, await puppet([])])
      expect(await adapter.refundProblem(contract as Address)).toContain('is a contract');
  });
});

describe('a bundle', () => {
  it('pays for each account its own intent, and verifies only for that account', async () => {
    const [one, other] = [expectPayment(), expectPayment()];
    const [first, second] = [wallets['0.7'], await fundedWallet('0.7')];
    const hash = await bundle(base.anvil, '0.7', [
      await first.operation(first.calldataOf([callOf(one.terms)])),
      await second.operation(second.calldataOf([callOf(other.terms)])),
    ]);
    expect(await verify(hash, one.terms, second.address)).toEqual({
      kind: 'mismatch',
      differs: { sender: { expected: second.address, actual: first.address } },
    });
    expect(await observed()).toEqual(paid(one, other));
  });

  it('pays beside the operation of a stranger with a thousand of its transfers under other references', async () => {
    const payment = expectPayment();
    const [payer, stranger] = [wallets['0.7'], await newSmartWallet(base.anvil, '0.7')];
    const decoys = Array.from(
      { length: 1_000 },
      () => callOf({ ...payment.terms, reference: base.adapter.newReference() }).data,
    );
    const [bundler] = base.anvil.wallets;
    if (bundler === undefined) throw new Error('anvil has wallets');
    const operations = [
      await stranger.operation(stranger.calldataOf([{ to: base.newRecipient(), data: concat(decoys) }])),
      await payer.operation(payer.calldataOf([callOf(payment.terms)])),
    ];
    await base.anvil.rpc('eth_sendTransaction', {
      from: bundler.address,
      to: ENTRY_POINTS['0.7'].address,
      data: bundleOf('0.7', operations, bundler.address),
      gas: toHex(16_000_000),
    });
    await base.anvil.mine();
    expect(await observed()).toEqual(paid(payment));
  });

  it('does not lend a transfer to the reference in the operation of another account', async () => {
    const { terms } = expectPayment();
    const [payer, thief] = [wallets['0.6'], await fundedWallet('0.6', 0n)];
    const bystander = await puppet([]);
    for (const call of [callOf(terms), { ...callOf(terms), to: bystander }]) {
      const hash = await bundle(base.anvil, '0.6', [
        await payer.operation(payer.calldataOf([plainOf(terms)])),
        await thief.operation(thief.calldataOf([call])),
      ]);
      for (const account of [payer, thief])
        expect(await verify(hash, terms, account.address)).toMatchObject(withoutReference(terms));
      expect(await observed()).toEqual([]);
    }
  });

  it('does not take the bytes of a call to another contract for a payment', async () => {
    const { terms } = expectPayment();
    const wallet = wallets['0.7'];
    const bystander = await puppet([]);
    const calls = [{ ...callOf(terms), to: bystander }, plainOf(terms)];
    const hash = await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf(calls))]);
    expect(await verify(hash, terms, wallet.address)).toMatchObject(withoutReference(terms));
    expect(await observed()).toEqual([]);
  });

  it('knows a payment without a reference from one of another intent', async () => {
    const [one, other] = [expectPayment(), base.adapter.newReference()];
    const wallet = wallets['0.7'];
    for (const [call, unnamed] of [
      [plainOf(one.terms), expect.objectContaining({ isConfirmed: true })],
      [callOf({ ...one.terms, reference: other }), undefined],
    ] as const) {
      const hash = await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf([call]))]);
      await base.anvil.rpc('evm_increaseTime', 2);
      await base.anvil.mine();
      expect(await verify(hash, one.terms, wallet.address)).toEqual({ ...withoutReference(one.terms), unnamed });
    }
  });

  it('counts two payments with one reference as two transfers', async () => {
    const { id, terms } = expectPayment();
    const wallet = wallets['0.8'];
    await bundle(base.anvil, '0.8', [await wallet.operation(wallet.calldataOf([callOf(terms), callOf(terms)]))]);
    expect(await observed()).toEqual(paid({ id }, { id }));
  });

  it('reports a wrong amount as the chain recorded it', async () => {
    const { id, terms } = expectPayment();
    const wallet = wallets['0.9'];
    const call = callOf({ ...terms, amount: AMOUNT - 1n });
    const hash = await bundle(base.anvil, '0.9', [await wallet.operation(wallet.calldataOf([call]))]);
    expect(await verify(hash, terms, wallet.address)).toEqual({
      kind: 'mismatch',
      differs: { amount: { expected: '2000000', actual: '1999999' } },
    });
    expect(await observed()).toEqual([`${id} paid confirmed`]);
    expect(watcher.watched.byReference(terms.reference)?.settlement?.transfer.amount).toBe(AMOUNT - 1n);
  });

  it('is not visible before it is in a block', async () => {
    const { terms } = expectPayment();
    const wallet = wallets['0.7'];
    await base.anvil.rpc('evm_setAutomine', false);
    const operation = await wallet.operation(wallet.calldataOf([callOf(terms)]));
    const data = learnOf([]);
    const hash = await base.anvil.rpc<TransactionHash>('eth_sendTransaction', {
      from: base.payers[5]?.address,
      to: ENTRY_POINTS['0.7'].address,
      data: concat([data, operation.callData]),
      gas: '0xf4240',
    });
    expect(await adapter.fetchSent(hash)).toBeNull();
    await base.anvil.mine();
  });
});

describe('an account that executes modes (ERC-7821, EIP-7702)', () => {
  it('pays with a transaction to itself, of type 4, accepted by its hash', async () => {
    const { id, terms } = expectPayment();
    const account = await delegatedAccount();
    const hash = await account.execute(MODES.batch, batchOf([callOf(terms)]));
    expect(await verify(hash, terms, account.address)).toMatchObject({
      kind: 'verified',
      transaction: { sender: account.address },
    });
    expect(await observed()).toEqual(paid({ id }));
  });

  it('is not refused where a node that lags does not have the receipt that another had', async () => {
    const { terms } = expectPayment();
    const account = await delegatedAccount();
    const hash = (await account.execute(MODES.batch, batchOf([callOf(terms)]))) as string as TransactionHash;
    const sent = await adapter.fetchSent(hash);
    if (sent === null) throw new Error(`${hash} is not visible`);
    const verified = (): Promise<Verification> => adapter.verify(sent, terms, account.address, true);
    proxy.faults = [{ kind: 'forgetful', methods: ['eth_getTransactionReceipt'], times: 1 }];
    expect(await verified()).toMatchObject({ kind: 'verified' });
    proxy.faults = [{ kind: 'forgetful', methods: ['eth_getTransactionReceipt'] }];
    await expect(verified()).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  });

  it('pays by one call, by a batch of batches, and by calls to itself', async () => {
    const intents = [expectPayment(), expectPayment(), expectPayment(), expectPayment(), expectPayment()] as const;
    const [a, b, c, d, e] = intents;
    const account = await delegatedAccount();
    const single = callOf(a.terms);
    await account.execute(
      MODES.single,
      encodePacked(['address', 'uint256', 'bytes'], [single.to as Hex, 0n, single.data]),
    );
    const batches = encodeAbiParameters(
      [{ type: 'bytes[]' }],
      [[batchOf([callOf(b.terms)]), batchOf([callOf(c.terms)])]],
    );
    await account.execute(MODES.batches, batches);
    const inner = executeOf(MODES.batch, batchOf([callOf(e.terms)]));
    await account.execute(MODES.batch, batchOf([callOf(d.terms), { to: account.address, data: inner }]));
    expect(await observed()).toEqual(paid(a, b, c, d, e));
  });

  it.each(['with', 'without'])(
    'gives one transfer to one of two references, when one call fails, %s traces',
    async (how) => {
      if (how === 'without') withoutTraces();
      const requestor = base.newRecipient();
      const [one, other] = [expectPayment(requestor), expectPayment(requestor)];
      const account = await delegatedAccount(AMOUNT);
      const hash = await account.execute(MODES.tryBatch, batchOf([callOf(one.terms), callOf(other.terms)]));
      if (how === 'with') {
        expect(await verify(hash, one.terms, account.address)).toMatchObject({ kind: 'verified' });
        expect(await verify(hash, other.terms, account.address)).toMatchObject(withoutReference(other.terms));
        expect(await observed()).toEqual(paid(one));
      } else {
        for (const { terms } of [one, other])
          expect(await verify(hash, terms, account.address)).toEqual({ kind: 'unseen' });
        // It is told for neither, as it may be the payment of the other.
        expect(await observedAfterAMinute()).toEqual([]);
      }
    },
  );
});

describe('a transaction through an unknown contract', () => {
  /** A contract that pays an intent from its own balance, and the transaction that makes it. */
  async function payThrough(terms: PaymentTerms): Promise<{ readonly address: string; readonly hash: Hex }> {
    const { to: target, data } = callOf(terms);
    const address = await puppet([{ target, data }]);
    await mint(address, AMOUNT);
    return { address, hash: await sendAs(base.anvil, address, concat(['0x12345678', data])) };
  }

  it('pays where a trace shows the call of the token', async () => {
    const { id, terms } = expectPayment();
    const { address, hash } = await payThrough(terms);
    expect(await verify(hash, terms, address)).toMatchObject({ kind: 'verified', transaction: { sender: address } });
    expect(await observed()).toEqual(paid({ id }));
  });

  it('is a payment without its reference where no upstream can show a trace', async () => {
    withoutTraces();
    const { id, terms } = expectPayment();
    await payThrough(terms);
    expect(await observedAfterAMinute()).toEqual([`${id} unproven confirmed`]);
  });

  it('is accepted later where no upstream can show a trace now, and refused with another amount', async () => {
    const { terms } = expectPayment();
    const { address, hash } = await payThrough(terms);
    withoutTraces();
    expect(await verify(hash, terms, address)).toEqual({ kind: 'unseen' });
    const more = { ...terms, amount: AMOUNT + 1n };
    expect(await verify(hash, more, address)).toMatchObject({ kind: 'mismatch' });
    proxy.faults = [];
    expect(await verify(hash, terms, address)).toMatchObject({ kind: 'verified' });
  });

  it('is refused where no upstream has any traces: it can never be proven', async () => {
    const { terms } = expectPayment();
    const { address, hash } = await payThrough(terms);
    const sent = await adapter.fetchSent(hash as string as TransactionHash);
    if (sent === null) throw new Error(`${hash} is not visible`);
    // What an upstream does not have is remembered for a while: of another pool.
    const other = poolOver([proxy.url]);
    try {
      proxy.faults = [
        {
          kind: 'refuse',
          reason: 'method not found',
          code: -32_601,
          methods: ['debug_traceTransaction', 'trace_filter'],
        },
      ];
      const verified = new BaseAdapter(base.adapter.network, other).verify(sent, terms, address as Address, true);
      expect(await verified).toMatchObject(withoutReference(terms));
    } finally {
      await other.close();
    }
  });

  it('is paid once it is traced, also after it was reported without its reference', async () => {
    withoutTraces();
    const { id, terms } = expectPayment();
    const { hash } = await payThrough(terms);
    expect(await observedAfterAMinute()).toEqual([`${id} unproven confirmed`]);
    proxy.faults = [];
    base.clock.pass(60_000);
    expect(await observed()).toEqual(paid({ id }));
    expect(watcher.watched.byReference(terms.reference)?.settlement?.hash).toBe(hash);
    const { setAside } = JSON.parse(watcher.cursor ?? '') as { readonly setAside: readonly unknown[] };
    expect(setAside).toEqual([]);
  });

  it('is looked at again after a restart, and after a rewind of the cursor', async () => {
    withoutTraces();
    const { id, terms } = expectPayment();
    await payThrough(terms);
    expect(await observed()).toEqual([]);
    watcher.moveCursor((cursor) => rewindCursor(base.adapter.network, cursor, 1n));
    watcher = watcher.restart(new BaseObserver(base.adapter.network, pool, base.clock.now));
    proxy.faults = [];
    base.clock.pass(10_000);
    expect(await observed()).toEqual(paid({ id }));
  });

  it('is judged by what it does, not by the calldata that a stranger has sent to it', async () => {
    const requestor = base.newRecipient();
    const [own, stranger] = [expectPayment(requestor), expectPayment(requestor)];
    const address = await puppet([{ target: usdc, data: callOf(own.terms).data }]);
    await mint(address, AMOUNT);
    const execute = encodeFunctionData({
      abi: [
        {
          type: 'function',
          name: 'execute',
          stateMutability: 'nonpayable',
          inputs: [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }],
          outputs: [],
        },
      ],
      args: [usdc as Hex, 0n, callOf(stranger.terms).data],
    });
    const hash = await sendAs(base.anvil, address, execute);
    expect(await verify(hash, stranger.terms, address)).toMatchObject(withoutReference(stranger.terms));
    expect(await verify(hash, own.terms, address)).toMatchObject({ kind: 'verified' });
    expect(await observed()).toEqual(paid(own));
  });

  it('is traced in its turn beside any number of others that want a trace', async () => {
    const mine = expectPayment();
    const [spam, crowded] = [expectPayment(), expectPayment(mine.terms.requestor)];
    for (const { terms } of [spam, crowded]) {
      const spammer = await puppet([{ target: usdc, data: plainOf(terms).data }]);
      await mint(spammer, 100n * AMOUNT);
      for (let sent = 0; sent < 25; sent += 1)
        await sendAs(base.anvil, spammer, concat(['0x12345678', callOf(terms).data]));
    }
    await payThrough(mine.terms);
    expect(await observed()).toEqual(paid(mine));
    for (let steps = 0; steps < 10; steps += 1) {
      base.clock.pass(10_000);
      await watcher.step();
    }
    const { setAside } = JSON.parse(watcher.cursor ?? '') as { readonly setAside: readonly unknown[] };
    expect(setAside).toEqual([]);
  });

  /** A merchant's contract sends back what it gets when it is called: the payer calls it, and has paid nothing. */
  async function payAndTakeBack(): Promise<{
    readonly id: string;
    readonly terms: PaymentTerms;
    readonly address: string;
    readonly hash: Hex;
  }> {
    const merchant = await puppet([]);
    const { id, terms } = expectPayment(getAddress(merchant) as string as Address);
    const [pay, refund] = [callOf(terms), '0x12345678' as const];
    const address = await puppet([
      { target: usdc, data: pay.data },
      { target: merchant, data: refund },
    ]);
    const back = { ...terms, requestor: address as Address };
    const script = [{ target: usdc as Hex, data: plainOf(back).data, mayFail: false, topics: [] }];
    await sendAs(base.anvil, merchant, learnOf(script));
    await mint(address, AMOUNT);
    return { id, terms, address, hash: await sendAs(base.anvil, address, concat(['0x12345678', pay.data])) };
  }

  it('pays nothing where the money goes back in the same transaction', async () => {
    await payAndTakeBack();
    expect(await observed()).toEqual([]);
  });

  it('is told of with what is left, nothing, where it was submitted', async () => {
    const { id, terms, address, hash } = await payAndTakeBack();
    expect(await verify(hash, terms, address)).toMatchObject({
      kind: 'mismatch',
      differs: { amount: { actual: '0' } },
    });
    // As of a version that did not compare it with the gain.
    const lifetime = { kind: 'unlimited' } as const;
    const sender = address as Address;
    watcher.watched.submit(
      { hash: hash as string as TransactionHash, sender, nonce: null, lifetime, terms },
      base.clock.now(),
    );
    expect(await observed()).toEqual(paid({ id }));
    expect(watcher.watched.byReference(terms.reference)?.settlement?.transfer.amount).toBe(0n);
  });

  it('is waited for where it was verified by a trace that is missing for a while', async () => {
    const { id, terms } = expectPayment();
    const { address, hash } = await payThrough(terms);
    const verified = await verify(hash, terms, address);
    if (verified.kind !== 'verified') throw new Error(JSON.stringify(verified));
    watcher.watched.submit(verified.transaction, base.clock.now());
    withoutTraces();
    expect(await observedAfterAMinute()).toEqual([]);
    proxy.faults = [];
    base.clock.pass(60_000);
    expect(await observed()).toEqual(paid({ id }));
  });

  it('costs one receipt and no trace without the bytes of a watched payment', async () => {
    const { terms } = expectPayment();
    const { to: target, data } = callOf(terms);
    const address = await puppet([{ target, data }]);
    await mint(address, AMOUNT);
    await sendAs(base.anvil, address, '0x12345678');
    const receipts = (): number => proxy.calls.get('eth_getTransactionReceipt') ?? 0;
    const before = { receipts: receipts(), traces: traces() };
    expect(await observed()).toEqual([]);
    expect({ receipts: receipts(), traces: traces() }).toEqual({ ...before, receipts: before.receipts + 1 });
  });

  it.each(['with', 'without'])(
    'cannot play an EntryPoint to claim the transfer of another wallet, %s traces',
    async (how) => {
      const { id, terms } = expectPayment();
      const victim = wallets['0.7'];
      const event = {
        topics: [
          '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f',
          pad('0x01'),
          pad(victim.address),
          pad('0x00'),
        ] as const,
        data: encodeAbiParameters(
          [{ type: 'uint256' }, { type: 'bool' }, { type: 'uint256' }, { type: 'uint256' }],
          [0n, true, 0n, 0n],
        ),
      };
      const pull = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transferFrom',
        args: [victim.address, terms.requestor as string as Hex, AMOUNT],
      });
      const fake = await puppet([{ target: usdc, data: pull }, event]);
      const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [fake as Hex, AMOUNT] });
      await bundle(base.anvil, '0.7', [await victim.operation(victim.calldataOf([{ to: usdc, data: approve }]))]);
      if (how === 'without') withoutTraces();
      const forged = await victim.operation(victim.calldataOf([callOf(terms)]));
      const hash = await sendAs(base.anvil, fake, concat(['0x765e827f', forged.callData]));
      if (how === 'with') {
        expect(await verify(hash, terms, victim.address)).toMatchObject(withoutReference(terms));
        expect(await observed()).toEqual([]);
      } else {
        expect(await verify(hash, terms, victim.address)).toEqual({ kind: 'unseen' });
        expect(await observedAfterAMinute()).toEqual([`${id} unproven confirmed`]);
      }
    },
  );
});

describe('a transfer without a reference', () => {
  it('is not told as the payment of a wallet from which a spender has pulled it', async () => {
    const { terms } = expectPayment();
    const wallet = wallets['0.7'];
    const pull = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [wallet.address, terms.requestor as string as Hex, AMOUNT],
    });
    const spender = base.payers[0];
    if (spender === undefined) throw new Error('Base has payers');
    const approve = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [spender.address as string as Hex, AMOUNT],
    });
    await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf([{ to: usdc, data: approve }]))]);
    const hash = await sendAs(base.anvil, usdc, pull, spender.address);
    await base.anvil.rpc('evm_increaseTime', 2);
    await base.anvil.mine();
    const verification = await verify(hash, terms, wallet.address);
    expect(verification.kind).toBe('mismatch');
    expect(verification).not.toHaveProperty('unnamed');
  });

  it('is not visible before it is in a block, as only then it can be told', async () => {
    const { terms } = expectPayment();
    const from = base.payers[1]?.address ?? '';
    await base.anvil.rpc('evm_setAutomine', false);
    const send = (data: Hex): Promise<TransactionHash> =>
      base.anvil.rpc<TransactionHash>('eth_sendTransaction', { from, to: usdc, data, gas: '0x30d40' });
    const [named, unnamed] = [await send(callOf(terms).data), await send(plainOf(terms).data)];
    expect(await adapter.fetchSent(named)).toMatchObject({ hash: named });
    expect(await adapter.fetchSent(unnamed)).toBeNull();
    await base.anvil.mine();
    expect(await adapter.fetchSent(unnamed)).toMatchObject({ hash: unnamed });
  });
});

describe('a claim by the hash of a bundle', () => {
  const claim = ({ transaction }: Pick<Extract<Verification, { kind: 'verified' }>, 'transaction'>): void =>
    watcher.watched.submit(transaction, base.clock.now());

  it('is paid by its own operation only, beside others to the same requestor', async () => {
    const { id, terms } = expectPayment();
    const [wallet, neighbor] = [await fundedWallet('0.7'), wallets['0.7']];
    const hash = await bundle(base.anvil, '0.7', [
      await neighbor.operation(neighbor.calldataOf([plainOf(terms)])),
      await wallet.operation(wallet.calldataOf([callOf(terms)])),
    ]);
    const verified = await verify(hash, terms, wallet.address);
    if (verified.kind !== 'verified') throw new Error(JSON.stringify(verified));
    claim(verified);
    expect(await observed()).toEqual(paid({ id }));
    expect(watcher.watched.byReference(terms.reference)?.settlement?.transfer.from).toBe(wallet.address);
  });

  it('fails when the operation had no effect in the block where the bundle is now', async () => {
    const { id, terms } = expectPayment();
    const wallet = await fundedWallet('0.7', AMOUNT - 1n);
    const hash = await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf([callOf(terms)]))]);
    const sender = wallet.address as string as Address;
    claim({
      transaction: {
        hash: hash as string as TransactionHash,
        sender,
        nonce: null,
        lifetime: { kind: 'unlimited' },
        terms,
      },
    });
    expect(await observed()).toEqual([`${id} reverted`]);
  });

  it('is dropped once the bundler has used its nonce otherwise, also by the stored bytes alone', async () => {
    const { id, terms } = expectPayment();
    const wallet = await fundedWallet('0.7');
    const hash = await bundle(base.anvil, '0.7', [await wallet.operation(wallet.calldataOf([callOf(terms)]))]);
    const sent = await adapter.fetchSent(hash as string as TransactionHash);
    const verified = await verify(hash, terms, wallet.address);
    if (verified.kind !== 'verified' || sent === null) throw new Error(JSON.stringify(verified));
    claim(verified);
    await base.anvil.rpc('anvil_reorg', 1, []);
    await sendAs(base.anvil, wallet.address, '0x');
    await base.finalize();
    const forgetful = watcher.restart(
      new BaseObserver(base.adapter.network, pool, base.clock.now, () => Promise.resolve(sent.raw)),
    );
    const seen = await forgetful.step();
    expect(seen.map(({ type, intentId }) => `${intentId} ${type}`)).toEqual([`${id} dropped`]);
  });

  it('is set aside no more once a reorg has undone it, so that it can be dropped', async () => {
    const { id, terms } = expectPayment();
    const account = await delegatedAccount();
    const hash = await account.execute(MODES.batch, batchOf([callOf(terms)]));
    const verified = await verify(hash, terms, account.address);
    if (verified.kind !== 'verified') throw new Error(JSON.stringify(verified));
    claim(verified);
    withoutTraces();
    expect((await watcher.stepOnce()).setAside).toBe(1);
    await base.anvil.rpc('anvil_reorg', 1, []);
    await account.execute(MODES.batch, batchOf([]));
    await base.finalize();
    const { observations, setAside } = await watcher.stepOnce();
    expect([observations.map(({ type, intentId }) => `${intentId} ${type}`), setAside]).toEqual([[`${id} dropped`], 0]);
  });
});
