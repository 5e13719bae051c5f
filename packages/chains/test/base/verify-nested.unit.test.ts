import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { getAddress, type Hex, keccak256 } from 'viem';
import { keptLogsOf } from '../../src/base/nested/kept-logs.ts';
import { verifyNested } from '../../src/base/verify-nested.ts';
import { getReceipt } from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import { honest, ScriptedChain } from '../hostile/scripted-chain.ts';
import { poolOver } from './chain.ts';
import { CHAIN, good, payer, signed, terms } from './payments.ts';

/** The payer of scripted payments, by a contract of its own. */
const ACCOUNT = getAddress(`0x${'0a'.repeat(20)}`) as string as Address;
/** Blocks of the scripted chain are a second apart. */
const HOUR = 3_600;

describe('a payment of a smart account that no upstream can trace', () => {
  let proxy: RpcProxy;
  let pool: RpcPool;
  let chain: ScriptedChain;
  beforeEach(async () => {
    chain = new ScriptedChain();
    proxy = await startRpcProxy('');
    proxy.respond = chain.respond;
    pool = poolOver([proxy.url], 2_000);
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });

  it('is not visible for an hour after its block, and then has no reference that is proven', async () => {
    const raw = await signed({ ...good, to: ACCOUNT as string as Hex });
    const hash = keccak256(raw);
    chain.mine((place) => {
      const shown = honest(terms)({ ...place, hash });
      const receipt = { ...(shown.receipt as object), from: payer.address, to: ACCOUNT };
      chain.change(hash, { ...shown, receipt, trace: new Error('the response is too long') });
      return shown;
    });
    const sent = { hash: hash as string as TransactionHash, raw };
    const network = networkOf(CHAIN);
    const receipt = await pool.call(getReceipt(sent.hash, keptLogsOf(network)));
    if (receipt === null) throw new Error('it is in a block');
    const verify = () => verifyNested(pool, network, sent, receipt, terms, ACCOUNT);
    for (let blocks = 1; blocks < HOUR; blocks += 1) chain.mine();
    expect(await verify()).toEqual({ kind: 'unseen' });
    chain.mine();
    expect(await verify()).toEqual({
      kind: 'mismatch',
      differs: { reference: { expected: terms.reference, actual: null } },
    });
  });
});
