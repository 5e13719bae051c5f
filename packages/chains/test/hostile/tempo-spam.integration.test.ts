import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Observation, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { type Hex, keccak256, toHex } from 'viem';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { startTempoUnderTest, tempoPool, type TempoUnderTest } from '../tempo/chain.ts';

const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
const WITH_MEMO = keccak256(toHex('TransferWithMemo(address,address,uint256,bytes32)'));
const SPAMMER = `0x${'66'.repeat(20)}`;
const CUSTOMER = `0x${'77'.repeat(20)}`;
const word = (hex: string): Hex => `0x${hex.slice(2).toLowerCase().padStart(64, '0')}`;
/** In one block: more than an observer reads in a step, and more receipts than it keeps. */
const SPAM = 1_300;

interface Made {
  readonly hash: Hex;
  readonly block: Hex;
  readonly logs: readonly object[];
  readonly receipt: object;
}

let chain: TempoUnderTest;
let proxy: RpcProxy;
let close: () => Promise<void>;
let watcher: Watcher;
let now = 1_000_000_000_000;
const made = new Map<string, Made>();
beforeAll(async () => {
  chain = await startTempoUnderTest();
  proxy = await startRpcProxy(chain.tempo.rpcUrl);
  const pool = tempoPool([proxy.url]);
  close = async () => {
    await pool.close();
    await proxy.stop();
    await chain.stop();
  };
  watcher = new Watcher(new TempoObserver(chain.adapter.network, pool, () => now));
  await watcher.step();
  proxy.respond = ({ method, params }) => {
    const [asked] = params as [{ readonly fromBlock: Hex; readonly toBlock: Hex }];
    if (method === 'eth_getTransactionReceipt') return made.get(String(params[0]))?.receipt;
    if (method !== 'eth_getLogs') return undefined;
    return [...made.values()].flatMap(({ block, logs }) =>
      BigInt(asked.fromBlock) <= BigInt(block) && BigInt(block) <= BigInt(asked.toBlock) ? logs.slice(1) : [],
    );
  };
});
afterAll(() => close());

function watched(id: string): PaymentTerms {
  const token = chain.adapter.token('USDC');
  if (token === null) throw new Error('Tempo has USDC');
  const terms: PaymentTerms = {
    chain: chain.adapter.network.chain,
    tokenAddress: token.address,
    amount: 2_000_000n,
    requestor: chain.newRecipient(),
    reference: chain.adapter.newReference(),
  };
  watcher.watched.add(id, terms);
  return terms;
}

/** The node has a new block with these payments, in this order. */
async function mine(payments: readonly (readonly [terms: PaymentTerms, payer: string, units: bigint])[]) {
  await chain.tempo.mine();
  const block = await chain.tempo.rpc<{ number: Hex; hash: Hex }>('eth_getBlockByNumber', 'latest', false);
  for (const [index, [{ tokenAddress, requestor, reference }, payer, units]] of payments.entries()) {
    const hash = keccak256(toHex(`${block.number} ${index}`));
    const topics = [word(payer), word(requestor)];
    const logs = [
      [TRANSFER, ...topics],
      [WITH_MEMO, ...topics, reference],
    ].map((all, place) => ({
      address: tokenAddress,
      topics: all,
      data: word(toHex(units)),
      blockNumber: block.number,
      blockHash: block.hash,
      transactionHash: hash,
      transactionIndex: toHex(index),
      logIndex: toHex(2 * index + place),
      removed: false,
    }));
    const receipt = {
      transactionHash: hash,
      status: '0x1',
      blockNumber: block.number,
      blockHash: block.hash,
      from: payer,
      logs,
    };
    made.set(hash, { hash, block: block.number, logs, receipt });
  }
}

it('thousands of payments in a block delay none to others, nor another payer of the same recipient', async () => {
  const spammed = watched('pi_spammed');
  const hashes = new Set<string>();
  const step = async (): Promise<readonly Observation[]> => {
    const { observations, behind } = await watcher.stepOnce();
    expect(behind).toBe(0n);
    for (const { data } of observations) hashes.add(data.hash);
    return observations;
  };
  for (const round of [1, 2, 3]) {
    const other = watched(`pi_other_${round}`);
    const spam = Array.from({ length: SPAM }, () => [spammed, SPAMMER, 1n] as const);
    await mine([...spam, [spammed, CUSTOMER, 2_000_000n], [other, CUSTOMER, 2_000_000n]]);
    now += 1_000;
    const warned = watcher.warnings.length;
    const observations = await step();
    expect(observations).toContainEqual(expect.objectContaining({ intentId: `pi_other_${round}` }));
    expect(observations.map(({ data }) => 'transfer' in data && data.transfer.from.toLowerCase())).toContain(CUSTOMER);
    expect(watcher.warnings.length - warned).toBeLessThanOrEqual(21);
  }
  // No payment is left out, although none of them waits for the others.
  for (let steps = 0; steps < 60 && hashes.size < made.size; steps += 1) {
    now += 16_000;
    await step();
  }
  expect(hashes.size).toBe(made.size);
}, 120_000);
