import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeIntent } from '@pf/contracts';
import type { PaymentIntent, PublicIntent, Reference } from '@pf/domain';
import { type Anvil, type ApiClient, apiClient, type Cluster, type LocalSolana, readBackingStack, readWholeLog, type StackChain, type StackWallet, startAnvil, startCluster, startSolana, startTempo, type Tempo, tempoWallet, until, walletOn } from '../src/index.ts';
import { BlockFlow } from './block-flow.ts';
import { payPlainly, payTogether, sendRaw, spedUp, usedUp } from './odd-payments.ts';

const NAMES = ['base', 'solana', 'tempo'] as const;
type Name = (typeof NAMES)[number];
const AMOUNT = '3';
const UNITS = 3_000_000n;
const BLOCK_MS = 300;
/** The least that an intent may live, and what is left of it for paying just before it expires: in seconds. */
const SHORTEST = 60;
const LEFT = 10;
/** For so long a payment on Tempo can land that is to die unpaid, and so much longer than the intent one that lands late: in seconds. */
const SHORT_LIFE = 4;
const LONGER = 60;
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];

let cluster: Cluster;
let api: ApiClient;
let base: Anvil;
let solana: LocalSolana;
let tempo: Tempo;
let chains: Record<Name, StackChain>;
let flows: Record<Name, BlockFlow>;
/** Made at the beginning, to expire at the end: one that is paid with little time left, and one that nobody pays before. */
let late: Record<Name, { readonly submitted: PublicIntent; readonly unpaid: PublicIntent }>;

const pass = (name: Name): Promise<unknown> => (name === 'solana' ? solana.advance() : name === 'base' ? base.mine() : tempo.mine());
const usdcOn = (name: Name): string => chains[name].tokens['USDC'] ?? '';
/** Wallet 0 is paid to; each story has payers of its own, so that none waits for another's nonce. */
const walletOf = (name: Name, place: number): StackWallet => chains[name].wallets[place] as StackWallet;
const requestorOn = (name: Name): string => walletOf(name, 0).address;

async function create(name: Name, more: object = {}): Promise<PublicIntent> {
  const { status, body } = await api.create({ chain: chains[name].caip2, token: 'USDC', amount: AMOUNT, requestor: requestorOn(name), ...more });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}
const pay = (name: Name, payer: StackWallet, { reference }: PublicIntent, units = UNITS): Promise<string> =>
  walletOn(chains[name], payer).pay(usdcOn(name), requestorOn(name), units, reference as Reference);
async function build(id: string, payer: StackWallet): Promise<string> {
  const { status, body } = await api.build(id, payer.address);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.transaction.blob;
}
/** Builds, signs and submits; resolves with the blob and the hash. */
async function submit(name: Name, id: string, payer: StackWallet, sign = (blob: string): Promise<string> => walletOn(chains[name], payer).sign(blob)): Promise<{ readonly blob: string; readonly hash: string }> {
  const blob = await build(id, payer);
  const { status, body } = await api.submit(id, await sign(blob), payer.address);
  expect([status, body.error, body.intent.state]).toEqual([200, undefined, 'pending']);
  return { blob, hash: body.txSignature };
}
const shown = async (id: string): Promise<PublicIntent> => (await api.get(id)).body.intent;
const reach = (id: string, state: string): Promise<PublicIntent> => until(`${id} to be ${state}`, async () => {
  const intent = await shown(id);
  return intent.state === state && intent;
}, 60_000);
/** Lets block after block pass while the flow is held. */
const passUntil = (name: Name, what: string, isSo: () => Promise<boolean>): Promise<unknown> => until(what, async () => (await pass(name), isSo()), 60_000);
/** What the ledger has of it, with what integrators do not see. */
async function kept(id: string): Promise<PaymentIntent> {
  const { rows } = await cluster.database.sql.query<{ state: string }>('SELECT state FROM ledger.intents WHERE id = $1', [id]);
  return decodeIntent(rows[0]?.state ?? '');
}
const counted = (id: string, transfers: number): Promise<unknown> => until(`${id} to count ${transfers} transfers`, async () => (await kept(id)).transfers.length === transfers, 60_000);
/** The types of its public events, and all events as the log has them. */
async function told(id: string) {
  const events = (await readWholeLog(cluster)).events.filter(({ intentId }) => intentId === id);
  const { body } = await api.events(id);
  return { types: body.events.map(({ type }) => type), log: events.map(({ type, data }) => ({ type, data })) };
}

const typeIs = (wanted: string) => ({ type }: { readonly type: string }): boolean => type === wanted;

type Story = (name: Name) => Promise<void>;
interface Telling {
  readonly what: string;
  readonly on: readonly Name[];
  readonly story: Story;
}

/** Go on side by side while blocks flow. */
const FLOWING: readonly Telling[] = [
  {
    what: 'that was never submitted is found by its reference, and goes through pending to confirmed',
    on: NAMES,
    async story(name) {
      const payer = walletOf(name, 1);
      const intent = await create(name);
      const hash = await pay(name, payer, intent);
      expect(await reach(intent.id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address, retryRequired: false });
      expect((await told(intent.id)).types).toEqual(PAID);
    },
  },
  {
    what: 'made with the plain transfer of the token program counts as any other',
    on: ['solana'],
    async story(name) {
      const payer = walletOf(name, 1);
      const { id, reference } = await create(name);
      const hash = await payPlainly(chains[name], payer, usdcOn(name), { to: requestorOn(name), units: UNITS, references: [reference] });
      expect(await reach(id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
      expect((await told(id)).types).toEqual(PAID);
    },
  },
  {
    what: 'made a second time is kept as an extra one, and nothing else changes',
    on: NAMES,
    async story(name) {
      const payer = walletOf(name, 2);
      const intent = await create(name);
      const first = await pay(name, payer, intent);
      const paid = await reach(intent.id, 'finalized');
      const second = await pay(name, payer, intent);
      await counted(intent.id, 2);
      expect(await shown(intent.id)).toEqual(paid);
      const { types, log } = await told(intent.id);
      expect([paid.txSignature, types]).toEqual([first, PAID]);
      expect(log.at(-1)).toMatchObject({ type: 'extra_payment_observed', data: { landing: { hash: second, transfer: { from: payer.address, amount: UNITS } } } });
    },
  },
  {
    what: 'of less or of more pays nothing: the intent stays open until the right amount comes',
    on: NAMES,
    async story(name) {
      const payer = walletOf(name, 3);
      const intent = await create(name);
      const wrong = [await pay(name, payer, intent, UNITS - 1n), await pay(name, payer, intent, UNITS + 1n)];
      await counted(intent.id, 2);
      expect(await shown(intent.id)).toEqual(intent);
      const right = await pay(name, payer, intent);
      expect(await reach(intent.id, 'finalized')).toMatchObject({ txSignature: right });
      const { types, log } = await told(intent.id);
      expect(types).toEqual(PAID);
      const mismatched = log.filter(typeIs('mismatched_payment_observed'));
      expect(mismatched).toMatchObject([{ data: { differs: ['amount'] } }, { data: { differs: ['amount'] } }]);
      expect(mismatched.map(({ data }) => (data as { landing: { hash: string } }).landing.hash).sort()).toEqual(wrong.sort());
    },
  },
  {
    what: 'of the requestor to itself pays nothing',
    on: NAMES,
    async story(name) {
      const intent = await create(name);
      const hash = await pay(name, walletOf(name, 0), intent);
      await counted(intent.id, 1);
      expect(await shown(intent.id)).toEqual(intent);
      expect((await told(intent.id)).log.at(-1)).toMatchObject({ type: 'mismatched_payment_observed', data: { differs: ['sender'], landing: { hash } } });
    },
  },
  {
    what: 'that carries two references counts for neither',
    on: ['solana'],
    async story(name) {
      const payer = walletOf(name, 4);
      const [one, other] = [await create(name), await create(name)];
      await payTogether.solana(chains[name], payer, usdcOn(name), [{ to: requestorOn(name), units: UNITS, references: [one.reference, other.reference] }]);
      await solana.advance();
      // What came before it was looked at before it.
      const hash = await pay(name, payer, one);
      expect(await reach(one.id, 'finalized')).toMatchObject({ txSignature: hash });
      expect([(await kept(one.id)).transfers.length, (await kept(other.id)).transfers.length]).toEqual([1, 0]);
      expect(await shown(other.id)).toEqual(other);
    },
  },
  {
    what: 'in one transaction with that of another intent: both are paid',
    on: ['solana', 'tempo'],
    async story(name) {
      const payer = walletOf(name, 4);
      const intents = [await create(name), await create(name)];
      const payments = intents.map(({ reference }) => ({ to: requestorOn(name), units: UNITS, references: [reference] }));
      const hash = await payTogether[name as 'solana' | 'tempo'](chains[name], payer, usdcOn(name), payments);
      for (const { id } of intents) {
        expect(await reach(id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
        expect((await told(id)).types).toEqual(PAID);
      }
    },
  },
  {
    what: 'that was built before the intent was cancelled, and lands after: it is confirmed',
    on: NAMES,
    async story(name) {
      const payer = walletOf(name, 5);
      const { id } = await create(name);
      const blob = await build(id, payer);
      expect((await api.cancel(id)).body.intent.state).toBe('cancelled');
      const wallet = walletOn(chains[name], payer);
      const refused = await api.submit(id, await wallet.sign(blob), payer.address);
      expect([refused.status, refused.body.error?.code]).toEqual([409, 'intent.invalid_state']);
      const hash = await wallet.send(blob);
      expect(await reach(id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
      const { types, log } = await told(id);
      expect(types).toEqual(['intent.created', 'intent.cancelled', 'intent.confirmed', 'intent.finalized']);
      expect(log.find(typeIs('intent.confirmed'))).toMatchObject({ data: { late: 'cancelled', landing: { hash } } });
    },
  },
];

const settlesLost = async (id: string): Promise<boolean> => (await kept(id)).settlement?.lost === true;

/** Go on one after the other on their chain, whose blocks the story lets pass; side by side on the chains. */
const HELD: readonly Telling[] = [
  {
    what: 'that its wallet speeds up ends with the transaction that landed, and the other is given up',
    on: ['base', 'tempo'],
    async story(name) {
      const payer = walletOf(name, 6);
      const { id } = await create(name);
      const { blob, hash } = await submit(name, id, payer);
      const faster = await sendRaw(chains[name], await spedUp[name as 'base' | 'tempo'](chains[name], payer, blob));
      expect(faster).not.toBe(hash);
      await passUntil(name, 'it to be final', async () => (await shown(id)).state === 'finalized');
      expect(await shown(id)).toMatchObject({ txSignature: faster, fulfiller: payer.address });
      expect((await told(id)).types).toEqual(PAID);
      // On Tempo the nonce is of this intent alone, and what is left of the first one dies with its time.
      if (name === 'base') await passUntil(name, 'the first one to be proven dead', async () => (await kept(id)).submissions.every(({ status }) => status === 'dropped'));
    },
  },
  {
    what: 'whose nonce another transaction uses up, which pays nobody, is asked for again',
    on: ['tempo'],
    async story(name) {
      const payer = walletOf(name, 7);
      const { id } = await create(name);
      const { timestamp } = await tempo.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
      const validBefore = Math.max(Number(timestamp), Math.floor(Date.now() / 1000)) + SHORT_LIFE;
      const { blob } = await submit(name, id, payer, (built) => tempoWallet(tempo, payer).sign(built, (transaction) => ({ ...transaction, validBefore })));
      await sendRaw(tempo, await usedUp.tempo(tempo, payer, blob));
      await passUntil(name, 'it to be created again', async () => (await shown(id)).state === 'created');
      expect(await shown(id)).toMatchObject({ retryRequired: true, txSignature: null });
      await submit(name, id, payer);
      await passUntil(name, 'it to be final', async () => (await shown(id)).state === 'finalized');
      expect((await told(id)).types).toEqual(['intent.created', 'intent.pending', 'intent.retry_required', ...PAID.slice(1)]);
    },
  },
  {
    what: 'that a reorganisation takes back and that never lands again fails in the end',
    on: ['base', 'solana'],
    async story(name) {
      const payer = walletOf(name, 7);
      const { id } = await create(name);
      const { blob, hash } = await submit(name, id, payer);
      await pass(name);
      // No further blocks: it would be final.
      const confirmed = await reach(id, 'confirmed');
      if (name === 'base') {
        await base.rpc('anvil_reorg', 1, [[await usedUp.base(base, payer, blob), 0]]);
      } else {
        await solana.drop({ payer: payer.address });
        await solana.reorg(2);
        await passUntil(name, 'it to be missed', () => settlesLost(id));
        expect(await shown(id)).toEqual(confirmed);
        await solana.expire();
        await solana.heal();
      }
      await passUntil(name, 'it to have failed', async () => (await shown(id)).state === 'failed');
      expect(await shown(id)).toMatchObject({ txSignature: hash, fulfiller: payer.address, confirmedAt: confirmed.confirmedAt, finalizedAt: null });
      const { types, log } = await told(id);
      expect(types).toEqual(['intent.created', 'intent.pending', 'intent.confirmed', 'intent.failed']);
      expect(log.slice(-2)).toMatchObject([{ type: 'confirmation_lost', data: { hash } }, { type: 'intent.failed', data: { hash } }]);
    },
  },
  {
    what: 'that a reorganisation takes back and its wallet has sped up on the new fork stays confirmed, by that one',
    on: ['base'],
    async story(name) {
      const payer = walletOf(name, 8);
      const { id } = await create(name);
      const { blob, hash } = await submit(name, id, payer);
      await pass(name);
      await reach(id, 'confirmed');
      await base.rpc('anvil_reorg', 1, [[await spedUp.base(base, payer, blob), 0]]);
      await passUntil(name, 'it to be final', async () => (await shown(id)).state === 'finalized');
      const { txSignature } = await shown(id);
      expect(txSignature).not.toBe(hash);
      const { types, log } = await told(id);
      expect(types).toEqual(PAID);
      expect(log.slice(-3)).toMatchObject([{ type: 'confirmation_lost', data: { hash } }, { type: 'confirmation_restored', data: { landing: { hash: txSignature } } }, { type: 'intent.finalized', data: { hash: txSignature } }]);
    },
  },
  {
    what: 'that was submitted in time and lands after the intent expired is confirmed',
    on: NAMES,
    async story(name) {
      const payer = walletOf(name, 1);
      const { id, createdAt, updatedAt } = late[name].submitted;
      const ttlSeconds = Math.max(SHORTEST, Math.ceil((Date.now() - Date.parse(createdAt)) / 1000) + LEFT);
      const changed = await api.update(id, { updatedAt, ttlSeconds });
      expect([changed.status, changed.body.error]).toEqual([200, undefined]);
      // What is built for Tempo dies with the intent; a wallet may choose otherwise.
      const longer = (built: string): Promise<string> => tempoWallet(tempo, payer).sign(built, (transaction) => ({ ...transaction, validBefore: (transaction.validBefore ?? 0) + LONGER }));
      const { hash } = name === 'tempo' ? await submit(name, id, payer, longer) : await submit(name, id, payer);
      expect(await reach(id, 'expired')).toMatchObject({ pendingAtExpiry: true, txSignature: hash });
      await passUntil(name, 'it to be final', async () => (await shown(id)).state === 'finalized');
      expect(await shown(id)).toMatchObject({ pendingAtExpiry: true, txSignature: hash, fulfiller: payer.address });
      const { types, log } = await told(id);
      expect(types).toEqual(['intent.created', 'intent.pending', 'intent.expired', 'intent.confirmed', 'intent.finalized']);
      expect(log.find(typeIs('intent.confirmed'))).toMatchObject({ data: { late: 'expired', landing: { hash } } });
    },
  },
  {
    what: 'that is made only after the intent expired is confirmed',
    on: NAMES,
    async story(name) {
      const payer = walletOf(name, 2);
      const intent = late[name].unpaid;
      await reach(intent.id, 'expired');
      const hash = await pay(name, payer, intent);
      await passUntil(name, 'it to be final', async () => (await shown(intent.id)).state === 'finalized');
      expect(await shown(intent.id)).toMatchObject({ txSignature: hash, fulfiller: payer.address, pendingAtExpiry: false });
      expect((await told(intent.id)).types).toEqual(['intent.created', 'intent.expired', 'intent.confirmed', 'intent.finalized']);
    },
  },
];

async function begin(): Promise<void> {
  [base, solana, tempo] = await Promise.all([startAnvil(), startSolana(), startTempo()]);
  chains = { base, solana, tempo };
  const flow = (name: Name): BlockFlow => new BlockFlow(async () => void (await pass(name)), BLOCK_MS);
  flows = { base: flow('base'), solana: flow('solana'), tempo: flow('tempo') };
  cluster = await startCluster(readBackingStack(), Object.values(chains));
  const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  const both = async (name: Name) => ({ submitted: await create(name), unpaid: await create(name, { ttlSeconds: SHORTEST }) });
  late = { base: await both('base'), solana: await both('solana'), tempo: await both('tempo') };
}

/** What became of each story, by its name and chain: null, or what it failed with. */
const ended = new Map<string, Promise<unknown>>();
const nameOf = (what: string, name: Name): string => `${what} on ${name}`;
const end = ({ story }: Telling, name: Name): Promise<unknown> => story(name).then(() => null, (error: unknown) => error);

beforeAll(async () => {
  await begin();
  for (const name of NAMES) flows[name].start();
  for (const telling of FLOWING) for (const name of telling.on) ended.set(nameOf(telling.what, name), end(telling, name));
}, 90_000);
afterAll(async () => {
  await Promise.allSettled(Object.values(flows).map((flow) => flow.hold()));
  await cluster.close();
  await Promise.all([base.stop(), solana.stop(), tempo.stop()]);
});

const each = (tellings: readonly Telling[]): { what: string; name: Name }[] => tellings.flatMap(({ what, on }) => on.map((name) => ({ what, name })));

describe('a payment', () => {
  it.each(each(FLOWING))('$what ($name)', async ({ what, name }) => {
    expect(await ended.get(nameOf(what, name))).toBeNull();
  }, 90_000);
});

describe('a payment, while time is held,', () => {
  beforeAll(async () => {
    await Promise.all(ended.values());
    for (const name of NAMES) {
      await flows[name].hold();
      let before: Promise<unknown> = Promise.resolve();
      for (const telling of HELD.filter(({ on }) => on.includes(name))) {
        before = before.then(() => end(telling, name));
        ended.set(nameOf(telling.what, name), before);
      }
    }
  }, 90_000);

  it.each(each(HELD))('$what ($name)', async ({ what, name }) => {
    expect(await ended.get(nameOf(what, name))).toBeNull();
  }, 120_000);
});
