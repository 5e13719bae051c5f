import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, type CreatedBody, type StackWallet } from '@pf/testing';
import { type Anvil } from '@pf/testing/chains';
import { walletOn } from '@pf/testing/wallets';
import { type Follower, follow } from './follower.ts';
import type { People } from './people.ts';
import type { Requests } from './requests.ts';

/**
 * Clients that order and cancel, payers that pay on the chain, and apps that only wait. Two cores run all services
 * beside them. Where there are people, every second payer pays on the payment page.
 */
const CLIENTS = 8;
const THINK_MS = 40;
const PAYERS = 6;
const WAITERS = 8;
/** A payment is final after ten blocks of half a second. */
const FINAL_MS = 120_000;
/** Base units of USDC, and the same as the API takes it. */
export const PAYMENT = { units: 250_000n, amount: '0.25' } as const;

/** What the services have said to clients: the only thing they are held to. */
export interface Promised {
  /** Intent id by idempotency key. */
  readonly created: Map<string, string>;
  readonly detected: Set<string>;
  readonly cancelled: Set<string>;
  /** The value that an update has put into the metadata, by intent. */
  readonly updated: Map<string, string>;
  /** Submitted payments, with how their streams went. */
  readonly paid: Map<string, Follower>;
  readonly waiting: Follower[];
}

/** The load of a benchmark: it goes on until it is stopped. */
export interface Load {
  readonly promised: Promised;
  /** Resolves when the last request is answered and all that was submitted is final. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  /** A payment is final after this time at the latest. */
  readonly finalMs?: number;
  readonly people?: People | undefined;
}

/** @param merchant who is paid */
export function startLoad(
  api: ApiClient,
  chain: Anvil,
  merchant: string,
  requests: Requests,
  { finalMs = FINAL_MS, people }: LoadOptions = {},
): Load {
  const promised: Promised = {
    created: new Map(),
    detected: new Set(),
    cancelled: new Set(),
    updated: new Map(),
    paid: new Map(),
    waiting: [],
  };
  let over = false;

  async function create(idempotencyKey: string): Promise<CreatedBody | null> {
    const body = { chain: chain.caip2, token: 'USDC', amount: PAYMENT.amount, requestor: merchant, idempotencyKey };
    const created = await requests.send('create', [201], () => api.create(body), [200]);
    if (created === null) return null;
    promised.created.set(idempotencyKey, created.intent.id);
    return created;
  }

  async function client(name: number): Promise<void> {
    for (let round = 0; !over; round++) {
      const id = (await create(`client-${name}-${round}`))?.intent.id;
      if (id !== undefined) {
        const read = await requests.send('get', [200], () => api.get(id));
        if (read !== null && read.intent.id !== id) requests.fail('get', `${id} was asked for, ${read.intent.id} came`);
        if (read !== null && round % 4 === 1) {
          const metadata = { order: `${name}-${round}` };
          const { updatedAt } = read.intent;
          // 409: its own first try has changed `updatedAt`.
          if (await requests.send('update', [200], () => api.update(id, { updatedAt, metadata }), [409]))
            promised.updated.set(id, metadata.order);
        }
        if (round % 2 === 0 && (await requests.send('detected', [200], () => api.detected(id))))
          promised.detected.add(id);
        if (round % 3 === 0 && (await requests.send('cancel', [200], () => api.cancel(id), [409])))
          promised.cancelled.add(id);
        if (round % 5 === 0) await requests.send('list', [200], () => api.list('limit=10'));
      }
      await delay(THINK_MS);
    }
  }

  async function payer(name: number, key: StackWallet): Promise<void> {
    const wallet = walletOn(chain, key);
    for (let round = 0; !over; round++) {
      const created = await create(`payer-${name}-${round}`);
      if (created === null) continue;
      const { id } = created.intent;
      const onPage = name % 2 === 1 ? people : undefined;
      const door = onPage?.page(created.clientSecret) ?? api;
      const at = onPage ? 'page: ' : '';
      if (onPage) await requests.send('page', [200], () => onPage.open(id));
      const follower = follow(door, id, requests, 'intent.finalized');
      const built = await requests.send(`${at}build`, [200], () => door.build(id, wallet.address));
      const signed = built && (await wallet.sign(built.transaction.blob));
      const submitted =
        signed && (await requests.send(`${at}submit`, [200], () => door.submit(id, signed, wallet.address)));
      if (submitted) {
        promised.paid.set(id, follower);
        const seen = await Promise.race([
          follower.saw('intent.finalized').then(() => true),
          delay(finalMs, false, { ref: false }),
        ]);
        if (!seen) requests.fail('payment', `${id} is not final after ${finalMs} ms`);
      }
      await follower.close();
    }
  }

  /** Nothing ever comes to these: they live as long as the load, over all restarts. */
  async function waiter(name: number): Promise<void> {
    const created = await create(`waiter-${name}`);
    if (created !== null) promised.waiting.push(follow(api, created.intent.id, requests, 'intent.finalized'));
  }

  const working = Promise.all([
    ...Array.from({ length: CLIENTS }, (_, name) => client(name)),
    ...chain.wallets.slice(0, PAYERS).map((key, name) => payer(name, key)),
    ...Array.from({ length: WAITERS }, (_, name) => waiter(name)),
    people?.look(requests, () => over),
  ]);
  return {
    promised,
    async stop() {
      over = true;
      await working;
      await Promise.all(promised.waiting.map((follower) => follower.close()));
    },
  };
}
