import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { controlsOf } from '@pf/chain-controls';
import type { PublicIntent } from '@pf/domain';
import { startBlockClock } from '@pf/local/block-clock';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  readBackingStack,
  type RunningPf,
  type StackChain,
  type StackWallet,
  startCluster,
  startPf,
  until,
} from '@pf/testing';
import { type Anvil, type LocalSolana, startAnvil, startSolana, startTempo, type Tempo } from '@pf/testing/chains';
import { tempoWallet, walletOn } from '@pf/testing/wallets';
import { type Name, NAMES } from '../chain-names.ts';

/** The chains with reorgs: a block of Tempo is final. */
const REORGANIZING = ['base', 'solana'] as const;
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];
/** Seconds in which a payment on Tempo can land here: a wallet may choose less than the service proposes. */
const SHORT_LIFETIME = 15;
const DELAY_SECONDS = 3;
/** Each test waits for commands, and up to a minute for blocks. */
const TEST_MS = 180_000;

let data: string;
let cluster: Cluster;
let api: ApiClient;
let base: Anvil;
let solana: LocalSolana;
let tempo: Tempo;
let chains: Record<Name, StackChain>;
let stopClocks: readonly (() => void)[] = [];

beforeAll(async () => {
  // Finality takes so long by itself that only the control can be the cause.
  [base, solana, tempo] = await Promise.all([
    startAnvil({ safeDepth: 20 }),
    startSolana({ slotMs: 200, finalitySlots: 60 }),
    startTempo(),
  ]);
  chains = { base, solana, tempo };
  stopClocks = [
    startBlockClock(base.rpcUrl, { blockMs: 250, baseFee: null }, async () => undefined),
    startBlockClock(tempo.rpcUrl, { blockMs: 500, baseFee: 10_000_000_000n }, async () => undefined),
  ];
  const stack = readBackingStack();
  cluster = await startCluster(
    stack,
    NAMES.map((name) => chains[name]),
  );
  const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  data = await mkdtemp(path.join(tmpdir(), 'pf-controls-'));
  const own = NAMES.map(
    (name) =>
      [name, { caip2: chains[name].caip2, rpcUrl: chains[name].rpcUrl, wallets: chains[name].wallets }] as const,
  );
  await writeFile(
    path.join(data, 'stack.json'),
    JSON.stringify({
      database: cluster.databaseUrl,
      accountId: cluster.accountId,
      baseUrl: `${gateway.url}/v1`,
      apiKeys: cluster.apiKeys,
      chains: Object.fromEntries(own),
    }),
  );
});
afterAll(async () => {
  for (const stop of stopClocks) stop();
  await cluster.close();
  await Promise.all([base.stop(), solana.stop(), tempo.stop(), rm(data, { recursive: true })]);
});

const pf = (...args: string[]): RunningPf => startPf(data, 'chain', ...args);
/** Starts a control that waits for a payment; resolves when it is armed. */
async function armed(...args: string[]): Promise<RunningPf> {
  const control = pf(...args);
  const line = await control.next();
  expect(line ?? (await control.ended)).toMatchObject({ event: 'armed' });
  return control;
}
/** The output of a command that ends by itself. */
async function runToEnd(...args: string[]): Promise<Record<string, unknown>> {
  const command = pf(...args);
  const { code, errors, output } = await command.ended;
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(output) as Record<string, unknown>;
}
const everywhere = <Where extends Name, T>(names: readonly Where[], run: (name: Where) => Promise<T>): Promise<T[]> =>
  Promise.all(names.map(run));

const usdcOn = (name: Name): string => chains[name].tokens['USDC'] ?? '';
/** Wallet 0 is the requestor. */
const payerOn = (name: Name, place = 1): StackWallet => chains[name].wallets[place] as StackWallet;
async function create(name: Name): Promise<PublicIntent> {
  const { status, body } = await api.create({
    chain: chains[name].caip2,
    token: 'USDC',
    amount: '3',
    requestor: chains[name].wallets[0]?.address,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}
/** Builds, signs and submits; resolves with the hash. */
async function pay(name: Name, id: string, payer = payerOn(name), life: number | null = null): Promise<string> {
  const built = await api.build(id, payer.address);
  expect([built.status, built.body.error]).toEqual([200, undefined]);
  const { blob } = built.body.transaction;
  const signed =
    life === null || name !== 'tempo'
      ? walletOn(chains[name], payer).sign(blob)
      : tempoWallet(chains[name], payer).sign(blob, (transaction) => ({
          ...transaction,
          validBefore: Math.floor(Date.now() / 1000) + life,
        }));
  const { status, body } = await api.submit(id, await signed, payer.address);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.txSignature;
}
const reach = (id: string, state: string): Promise<PublicIntent> =>
  until(`${id} to be ${state}`, async () => {
    const { intent } = (await api.get(id)).body;
    return intent.state === state && intent;
  });
const eventTypes = async (id: string): Promise<string[]> => (await api.events(id)).body.events.map(({ type }) => type);
/** Whether a transaction is in a block, successful or not. */
const landed = async (name: (typeof REORGANIZING)[number], hash: string): Promise<boolean> =>
  name === 'base'
    ? (await base.rpc('eth_getTransactionReceipt', hash)) !== null
    : (await solana.rpc<{ value: unknown[] }>('getSignatureStatuses', [hash])).value[0] !== null;

describe('pf chain', () => {
  it(
    'drop makes the next payment vanish, so that its payer signs again',
    () =>
      everywhere(NAMES, async (name) => {
        const control = await armed('drop', name);
        const { id } = await create(name);
        const hash = await pay(name, id, payerOn(name), SHORT_LIFETIME);
        expect(await control.next()).toMatchObject({ event: 'dropped', transaction: hash, intentId: id });
        expect((await control.ended).code).toBe(0);
        const again = await until(
          `${id} to be required again`,
          async () => {
            const { intent } = (await api.get(id)).body;
            return intent.retryRequired === true && intent;
          },
          60_000,
        );
        expect(again).toMatchObject({ state: 'created', txSignature: null });
        expect(await eventTypes(id)).toEqual(['intent.created', 'intent.pending', 'intent.retry_required']);
      }),
    TEST_MS,
  );

  it(
    'fail makes only the selected of two payments fail on chain and move no money',
    () =>
      everywhere(NAMES, async (name) => {
        const [other, { id }] = await Promise.all([create(name), create(name)]);
        const payer = payerOn(name, 2);
        const before = await walletOn(chains[name], payer).tokenBalance(usdcOn(name));
        const control = await armed('fail', chains[name].caip2, '--intent', id);
        await pay(name, other.id, payerOn(name, 3));
        const hash = await pay(name, id, payer);
        expect(await control.next()).toMatchObject({ event: 'failed', transaction: hash, intentId: id });
        expect(await reach(id, 'failed')).toMatchObject({ txSignature: hash });
        expect(await eventTypes(id)).toEqual(['intent.created', 'intent.pending', 'intent.failed']);
        // On Tempo the fee is paid in USDC.
        expect(before - (await walletOn(chains[name], payer).tokenBalance(usdcOn(name)))).toBeLessThan(100_000n);
        await until(
          `${other.id} to be paid`,
          async () => ['confirmed', 'finalized'].includes((await api.get(other.id)).body.intent.state),
          60_000,
        );
      }),
    TEST_MS,
  );

  it(
    'reorg removes a confirmed payment, which lands again, and finalize finalizes it at once',
    () =>
      everywhere(REORGANIZING, async (name) => {
        const control = await armed('reorg', name, '--payer', payerOn(name, 4).address);
        const { id } = await create(name);
        const hash = await pay(name, id, payerOn(name, 4));
        expect(await control.next()).toMatchObject({
          event: 'orphaned',
          transaction: hash,
          intentId: id,
          stateBefore: 'confirmed',
        });
        await until(`${hash} to be in a block again`, () => landed(name, hash));
        expect(await runToEnd('finalize', name)).toMatchObject({ network: name });
        await reach(id, 'finalized');
        expect(await eventTypes(id)).toEqual(PAID);
      }),
    TEST_MS,
  );

  it(
    'reorg --lose removes a confirmed payment for good, and it fails',
    () =>
      everywhere(REORGANIZING, async (name) => {
        const control = await armed('reorg', name, '--lose');
        const { id } = await create(name);
        await pay(name, id, payerOn(name, 5));
        expect(await control.next()).toMatchObject({ event: 'orphaned', intentId: id, lost: true });
        await until(
          `${id} to have failed`,
          async () => {
            // Skips the minute in which it might land on another fork, and the blocks until its nonce is used for good.
            await (name === 'solana' ? solana.expire() : controlsOf(base).finalize());
            return (await api.get(id)).body.intent.state === 'failed';
          },
          60_000,
        );
        expect(await eventTypes(id)).toEqual(['intent.created', 'intent.pending', 'intent.confirmed', 'intent.failed']);
      }),
    TEST_MS,
  );

  it(
    'delay keeps every transaction from landing for its duration',
    () =>
      everywhere(NAMES, async (name) => {
        const began = Date.now();
        const control = pf('delay', name, '--seconds', String(DELAY_SECONDS));
        expect(await control.next()).toMatchObject({ event: 'delayed' });
        const { id } = await create(name);
        await pay(name, id, payerOn(name, 6));
        expect(await control.next()).toMatchObject({ event: 'resumed' });
        await until(`${id} to be confirmed`, async () => (await api.get(id)).body.intent.confirmedAt, 60_000);
        const { confirmedAt } = (await api.get(id)).body.intent;
        // On a busy machine the payment may come late, but no block may have it earlier.
        expect(Date.parse(confirmedAt ?? '')).toBeGreaterThan(began + DELAY_SECONDS * 1000);
      }),
    TEST_MS,
  );

  it('ends injected faults by heal, by number and by time, and blocks continue', async () => {
    const goesOn = async (name: Name): Promise<unknown> => {
      const state = () => controlsOf(chains[name]).state();
      const before = await state();
      expect(before).toMatchObject({ clock: 'running', armed: [] });
      return until('blocks to go on', async () => (await state()).head > before.head, 30_000);
    };
    const waiting = await Promise.all(NAMES.map((name) => armed('drop', name)));
    expect(await runToEnd('heal')).toEqual({ healed: NAMES });
    for (const control of waiting)
      expect(await control.ended).toMatchObject({ code: 1, errors: expect.stringContaining('healed') });

    const [byHand, byTime] = await Promise.all([armed('drop', 'base'), armed('fail', 'solana', '--within', '1')]);
    byHand.interrupt();
    expect(await byHand.next()).toMatchObject({ event: 'ended', network: 'base' });
    expect((await byHand.ended).code).toBe(0);
    expect(await byTime.ended).toMatchObject({
      code: 1,
      errors: expect.stringContaining('solana saw no such payment within 1 s'),
    });
    await everywhere(NAMES, goesOn);
  });

  it('explains why it refuses a reorg on Tempo, a live network and an unknown network', async () => {
    const refusal = async (...args: string[]): Promise<string> => {
      const { code, errors } = await pf(...args).ended;
      expect(code).toBe(1);
      return errors;
    };
    const errors = await Promise.all([
      refusal('reorg', 'tempo'),
      refusal('drop', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'),
      refusal('fail', 'ethereum'),
    ]);
    expect(errors).toEqual([
      expect.stringContaining('Tempo has no reorgs'),
      expect.stringContaining('real chains have no such controls'),
      expect.stringContaining('Unknown network ethereum'),
    ]);
  });
});
