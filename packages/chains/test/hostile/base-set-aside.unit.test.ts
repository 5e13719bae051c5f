import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, Observation, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, type RpcRequest, startRpcProxy } from '@pf/testing/chains';
import { getAddress, type Hex, numberToHex, pad, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { AUTHORIZATION_USED } from '../../src/base/nested/authorized.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, fulfiller, terms } from '../base/payments.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { ScriptedChain } from './scripted-chain.ts';

const ATTACKER: Hex = `0x${'ba'.repeat(20)}`;
const SAFE: Hex = `0x${'5a'.repeat(20)}`;
const USDC = terms.tokenAddress as string as Hex;
const addressOf = (at: number): Address => getAddress(toHex(0x0d0000 + at, { size: 20 })) as string as Address;
const referenceOf = (at: number): Reference => toHex(at, { size: 32 }) as string as Reference;
const mine: PaymentTerms = { ...terms, requestor: addressOf(0) };

const transferAt = (at: At, index: number, from: string, to: string, amount: bigint) =>
  logAt(at, index, USDC, [TRANSFER, topic(from), topic(to)], toHex(amount, { size: 32 }));

/** A transaction that calls a contract, with what that logs. */
const calling =
  (contract: Hex, input: string, logsAt: (at: At) => readonly object[], shown: Partial<Shown> = {}) =>
  (at: At): Shown => {
    const [logs, sent] = [logsAt(at), { from: ATTACKER, to: contract }];
    const [hash, { blockHash }] = [at.hash, at];
    return {
      logs,
      transaction: { ...sent, hash, type: '0x2', nonce: '0x1', gas: '0x30d40', value: '0x0', input, blockHash },
      receipt: { ...sent, transactionHash: hash, status: '0x1', blockNumber: numberToHex(at.block), blockHash, logs },
      trace: new Error('the response is too long'),
      ...shown,
    };
  };

/** A smart account's payment: by a contract that calls the token. */
function nested(account: Hex, { requestor, amount, reference }: PaymentTerms, isTraced: boolean) {
  const input = encodePayment(requestor, amount, reference);
  return (at: At): Shown => {
    const logs = [transferAt(at, 0, account, requestor, amount)];
    const calls = [{ type: 'CALL', from: account, to: USDC, input, logs }];
    const trace = { type: 'CALL', from: ATTACKER, to: account, input: '0x6a761202', calls };
    return calling(account, `0x6a761202${input.slice(2)}`, () => logs, isTraced ? { trace } : {})(at);
  };
}

let proxy: RpcProxy;
let pool: RpcPool;
let chain: ScriptedChain;
let clock: Clock;
let watcher: Watcher;
/** What the node says in the place of the scripted chain; undefined: what that says. */
let instead: (request: RpcRequest) => unknown;
beforeEach(async () => {
  chain = new ScriptedChain();
  instead = () => undefined;
  proxy = await startRpcProxy('');
  proxy.respond = (request) => instead(request) ?? chain.respond(request);
  pool = poolOver([proxy.url], 2_000);
  clock = new Clock();
  watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
  watcher.watched.add('pi_mine', mine);
  watcher.watched.own(mine.requestor, 'acct_honest');
  await watcher.step();
});
afterEach(async () => {
  await pool.close();
  await proxy.stop();
});

/** What is observed in so many steps, two seconds and a block apart. */
async function observedIn(steps: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    found.push(...(await watcher.step()).map((one) => `${one.intentId} ${named([one])[0] ?? ''}`));
    clock.pass(2_000);
    chain.mine();
  }
  return found;
}

describe('a payment of a Safe', () => {
  // Each of them costs 0.003 USD: its trace is too long, as it calls with the same 200 KiB again and again.
  it('is confirmed beside 520 payments to as many wallets of one account that cannot be traced', async () => {
    const attacked = Array.from({ length: 520 }, (_, at) => ({
      ...terms,
      requestor: addressOf(at + 1),
      amount: 1n,
      reference: referenceOf(at + 1),
    }));
    for (const [at, one] of attacked.entries()) {
      watcher.watched.add(`pi_attacked_${at}`, one);
      watcher.watched.own(one.requestor, 'acct_attacker');
    }
    const places: At[] = [];
    const untraced = (at: At): Shown => {
      places.push(at);
      return nested(SAFE, mine, false)(at);
    };
    const [hash] = chain.mine(...attacked.map((one) => nested(ATTACKER, one, false)), untraced).slice(-1);
    expect(await observedIn(3)).toEqual([]);
    expect(watcher.warnings.filter((one) => one.includes('too many'))).not.toContainEqual(
      expect.stringContaining(String(hash)),
    );
    chain.change(hash as Hex, nested(SAFE, mine, true)(places[0] as At));
    expect(await observedIn(5)).toContain('pi_mine landed confirmed');
  }, 60_000);
});

describe('an authorization', () => {
  const HASH = `0x${'a1'.repeat(32)}` as TransactionHash;
  const RELAYER: Hex = `0x${'cd'.repeat(20)}`;
  const usedAt = (at: At, index: number) => [
    logAt(at, index, USDC, [AUTHORIZATION_USED, topic(fulfiller), mine.reference], '0x'),
    transferAt(at, index + 1, fulfiller, mine.requestor, mine.amount),
  ];
  const relayed = (logsAt: (at: At) => readonly object[], shown: Partial<Shown> = {}) =>
    calling(RELAYER, '0x12345678', logsAt, shown);
  /** The token's word on the nonce: it is used in the first block with transactions. */
  const isUsed = ({ method, params }: RpcRequest): unknown =>
    method === 'eth_call' ? pad(BigInt(String(params[1])) > 0n ? '0x1' : '0x0') : undefined;
  beforeEach(() => {
    const lifetime = { kind: 'time', validBefore: 1_800_000_000n } as const;
    watcher.watched.submit(
      { hash: HASH, sender: fulfiller, nonce: mine.reference, lifetime, terms: mine },
      clock.now(),
    );
    instead = isUsed;
  });

  it.each([
    ['all', mine.amount],
    ['a part', 1n],
  ])('has failed, and is not dropped, where its payee relays it and sends %s of it on at once', async (_what, on) => {
    const [hash] = chain.mine(relayed((at) => [...usedAt(at, 0), transferAt(at, 2, mine.requestor, ATTACKER, on)]));
    const found: Observation[] = [];
    // Long enough for it to be dropped, and not to be final.
    for (let step = 0; step < 6; step += 1) {
      found.push(...(await watcher.step()));
      clock.pass(2_000);
      chain.mine();
    }
    expect(found).toMatchObject([
      { type: 'reverted', data: { hash: HASH, reason: expect.stringContaining(String(hash)) } },
      { type: 'landed', data: { hash, level: 'confirmed', transfer: { amount: mine.amount - on } } },
    ]);
  });

  it('is not failed by what another wallet has paid with its reference as nonce', async () => {
    const other = addressOf(9);
    instead = () => undefined;
    chain.mine(
      relayed((at) => [
        logAt(at, 0, USDC, [AUTHORIZATION_USED, topic(other), mine.reference], '0x'),
        transferAt(at, 1, other, mine.requestor, 1n),
      ]),
    );
    expect(await observedIn(4)).toEqual(['pi_mine landed confirmed']);
  });

  describe('whose transaction no upstream can show', () => {
    const dust = (at: At, index: number) => transferAt(at, index, ATTACKER, addressOf(1), 1n);
    beforeEach(() => {
      watcher.watched.add('pi_other', { ...terms, requestor: addressOf(1), reference: referenceOf(1) });
      watcher.watched.own(addressOf(1), 'acct_attacker');
      // The logs of our tokens in its block are too many, too.
      instead = (request) => {
        const { method, params } = request;
        const isOfBlock =
          method === 'eth_getLogs' && (params[0] as { readonly topics: readonly unknown[] }).topics.length === 1;
        return isOfBlock ? new Error('too many logs') : isUsed(request);
      };
    });

    it.each<[string, (at: At) => readonly object[]]>([
      ['first', (at) => usedAt(at, 0)],
      ['behind dust to another', (at) => [dust(at, 0), ...usedAt(at, 1)]],
      [
        'behind dust to 30 others of one account',
        (at) => [
          ...Array.from({ length: 30 }, (_, index) => transferAt(at, index, ATTACKER, addressOf(index + 1), 1n)),
          ...usedAt(at, 30),
        ],
      ],
    ])('is not dropped: its transfer comes %s', async (_place, logsAt) => {
      for (let at = 2; at <= 30; at += 1) {
        watcher.watched.add(`pi_other_${at}`, { ...terms, requestor: addressOf(at), reference: referenceOf(at) });
        watcher.watched.own(addressOf(at), 'acct_attacker');
      }
      chain.mine(relayed(logsAt, { receipt: null }));
      expect(await observedIn(20)).toEqual([]);
    });

    it.each(['receipt', 'transaction'])('is not dropped where the %s is missing', async (part) => {
      chain.mine(relayed((at) => [dust(at, 0), ...usedAt(at, 1)], { [part]: null }));
      expect(await observedIn(20)).toEqual([]);
    });
  });

  it('is dropped once it was cancelled, whatever of its payer to its payee could not be read', async () => {
    const unread = Array.from({ length: 3 }, () =>
      relayed((at) => [transferAt(at, 0, fulfiller, mine.requestor, 0n)], { receipt: null }),
    );
    chain.mine(...unread);
    expect(await observedIn(20)).toEqual(['pi_mine dropped']);
  });
});
