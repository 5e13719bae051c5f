import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { IntentId, TransactionHash, Transfer } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { getBase58Decoder } from '@solana/kit';
import { randomAddress } from '../../../src/solana/address.ts';
import { networkOf } from '../../../src/index.ts';
import { nameOfSettlement, observeFinal } from '../../../src/solana/observe/finality.ts';
import { type Look, lookAt } from '../../../src/solana/observe/looking.ts';
import { readUnseen } from '../../../src/solana/observe/lookups.ts';
import { Memory } from '../../../src/solana/observe/memory.ts';
import type { PendingSettlement } from '../../../src/solana/observe/pending-outcomes.ts';
import { accountsOf } from '../../../src/solana/payment.ts';
import { decodeSigned } from '../../../src/solana/signed-transaction.ts';
import { Watched } from '../../conformance/watching.ts';
import { doubtingBy, noneLate } from '../late.ts';
import { blobFor, DEVNET, fulfiller, signedBy, termsIn } from '../payments.ts';
import { poolBesideAway, WAYS_TO_BE_AWAY } from '../../second-away.ts';
import { u64 } from '../token-instructions.ts';

const network = networkOf(DEVNET);
const MANY = 100;
const MINUTE = 60_000;

afterEach(() => void jest.restoreAllMocks());

/** A transaction that pays one intent. One of two upstreams shows another payment in it, which no other one shows. */
describe('a payment that one upstream has invented in a transaction of another', () => {
  const [terms, robbed] = [termsIn('USDC'), termsIn('USDC')];
  let watch: Watched;
  let memory: Memory;
  let hash: TransactionHash;
  let liar: RpcNode;
  let honest: RpcNode;
  let pool: RpcPool;

  beforeEach(async () => {
    watch = new Watched();
    watch.add('pi_real', terms);
    watch.add('pi_robbed', robbed);
    memory = new Memory();
    const raw = signedBy(await blobFor(terms));
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    ({ hash } = decoded.value);
    const { source, destination, mint, tokenProgram } = await accountsOf(terms, fulfiller);
    const account = randomAddress();
    const accounts: readonly string[] = [...decoded.value.accounts, account, robbed.reference];
    const place = (of: string): number => accounts.indexOf(of);
    const balance = (of: string, owner: string, amount: bigint) => ({
      accountIndex: place(of),
      mint,
      owner,
      uiTokenAmount: { amount: String(amount) },
    });
    const shown = (extra: object, ...more: readonly object[]) => ({
      slot: 7,
      transaction: [Buffer.from(raw).toString('base64'), 'base64'],
      meta: {
        err: null,
        preTokenBalances: [balance(source, fulfiller, terms.amount)],
        postTokenBalances: [balance(destination, terms.requestor, terms.amount), ...more],
        ...extra,
      },
    });
    const invented = {
      loadedAddresses: { writable: [account], readonly: [robbed.reference] },
      innerInstructions: [
        {
          index: 0,
          instructions: [
            {
              programIdIndex: place(tokenProgram),
              accounts: [source, mint, account, fulfiller, robbed.reference].map(place),
              data: getBase58Decoder().decode(Buffer.concat([Buffer.of(12), u64(robbed.amount), Buffer.of(6)])),
            },
          ],
        },
      ],
    };
    const nodeOf = (name: string, response: unknown): RpcNode => ({
      name,
      plan: {},
      callsIn: () => Number.POSITIVE_INFINITY,
      call: () => Promise.reject(new Error('only batches')),
      batch: (calls) => Promise.resolve(calls.map(() => response)) as never,
    });
    liar = nodeOf('liar', shown(invented, balance(account, robbed.requestor, robbed.amount)));
    honest = nodeOf('honest', shown({}));
    const other = (node: RpcNode): RpcNode => (node === liar ? honest : liar);
    pool = {
      size: 2,
      onAnother: () => Promise.resolve(null),
      doubleCheck: async (node: RpcNode, first: string | null, work: (by: RpcNode) => Promise<unknown>) => {
        if (first !== null) return [await work(first === node.name ? other(node) : node)];
        return [await work(other(node)), await work(node)];
      },
    } as unknown as RpcPool;
  });

  /** The settlements that follow from what this upstream shows. */
  async function settledBy(node: RpcNode): Promise<readonly PendingSettlement[]> {
    memory.unseen.set(hash, { slot: 7n, since: 0, dueAt: 0, of: terms.requestor });
    const { observations, commit } = await readUnseen(pool, node, memory, network, watch, 0, MANY, noneLate());
    commit();
    return observations.flatMap(({ intentId, data }) => ('level' in data ? [settlement(intentId, data.transfer)] : []));
  }
  const settlement = (intentId: IntentId, transfer: Transfer): PendingSettlement => ({
    kind: 'settling',
    intentId,
    requestor: transfer.to,
    hash,
    since: 0,
    settlement: { hash, transfer, finalized: false, lost: false },
  });
  /** Which of them become final at this node, step by step. */
  async function finals(node: RpcNode, settled: readonly PendingSettlement[], ...times: readonly number[]) {
    const steps: { readonly final: readonly IntentId[]; readonly warnings: readonly string[] }[] = [];
    for (const now of times) {
      const step = await observeFinal(doubtingBy(pool, node), settled, memory, network, watch, now);
      step.commit();
      steps.push({ final: step.observations.map(({ intentId }) => intentId), warnings: step.warnings });
    }
    return steps;
  }

  it.each(['liar', 'honest'])('never becomes final beside one that both show, at the node %s', async (name) => {
    const settled = await settledBy(liar);
    expect(settled.map(({ intentId }) => intentId)).toEqual(['pi_robbed', 'pi_real']);
    expect(await finals(name === 'liar' ? liar : honest, settled, 0, 400, 2 * MINUTE)).toEqual([
      { final: ['pi_real'], warnings: [] },
      { final: ['pi_real'], warnings: [] },
      {
        final: ['pi_real'],
        warnings: [
          `solana-devnet: ${hash} of slot 7 does not become final: ` +
            'a second upstream shows no such payment of pi_robbed',
        ],
      },
    ]);
  });

  it('never becomes final where another upstream has shown the transaction since', async () => {
    const settled = await settledBy(liar);
    expect(await settledBy(honest)).toHaveLength(1);
    expect((await finals(liar, settled, 0, 400)).map(({ final }) => final)).toEqual([['pi_real'], ['pi_real']]);
  });

  it.each(WAYS_TO_BE_AWAY)('never becomes final at one that lies, however long the other is %s', async (way) => {
    const settled = await settledBy(liar);
    pool = poolBesideAway(liar, way);
    const clock = jest.spyOn(performance, 'now');
    const began = performance.now();
    const unshown: number[] = [];
    for (const now of [0, 11 * MINUTE]) {
      clock.mockReturnValue(began + now);
      expect(await finals(liar, settled, now)).toEqual([{ final: [], warnings: [] }]);
      unshown.push(memory.unshown.longAmong(() => settled.map(nameOfSettlement), now));
    }
    await pool.close();
    expect(unshown).toEqual([0, 2]);
  });

  it('never becomes final where it is not remembered who has shown it', async () => {
    const settled = await settledBy(liar);
    memory = new Memory();
    for (const node of [liar, honest]) expect(await finals(node, settled, 0)).toMatchObject([{ final: ['pi_real'] }]);
  });

  it('never becomes final by what has come beside the steps of the upstream that has shown it', async () => {
    const settled = await settledBy(liar);
    const [look] = await lookAt(liar, [hash]);
    const doubting = doubtingBy(pool, honest);
    const come = new Map([[hash, [{ by: liar.name, look: look as Look }]]]);
    const seconds = { ...doubting.seconds, come };
    const step = await observeFinal({ ...doubting, seconds }, settled, memory, network, watch, 0);
    expect(step.observations.map(({ intentId }) => intentId)).toEqual(['pi_real']);
  });
});
