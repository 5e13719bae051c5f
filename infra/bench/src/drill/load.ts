import { setTimeout as delay } from 'node:timers/promises';
import { apiClient, type ApiClient } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import type { DrillRig } from './rig.ts';

const CLIENTS = 3;
const PAYERS = 3;
const THINK_MS = 50;
const POLL_MS = 200;
export const TOKEN = 'USDC';
/** The same in base units of USDC, and as the API takes it. */
export const PAYMENT = { units: 250_000n, amount: '0.25' } as const;

/** What was acknowledged, by the type of the event that it became. */
export interface Acknowledged {
  readonly type: 'intent.created' | 'intent.cancelled' | 'intent.detected' | 'intent.pending';
  readonly intentId: string;
  /** The time of its event, ms since 1970. */
  readonly at: number;
}

/** Clients that create and cancel, and payers that pay on the chain, until they are stopped. */
export class DrillLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** The hashes of submitted payments, by intent. */
  readonly submitted = new Map<string, string>();
  /** Intents whose payments were seen to be final. */
  readonly final = new Set<string>();
  readonly #rig: DrillRig;
  readonly #merchant: string;
  #over = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(rig: DrillRig, merchant: string) {
    this.#rig = rig;
    this.#merchant = merchant;
  }

  start(): void {
    this.#working = Promise.all([
      ...Array.from({ length: CLIENTS }, () => this.#repeat((api, round) => this.#order(api, round))),
      ...Array.from({ length: PAYERS }, (_, payer) => this.#repeat((api) => this.pay(api, payer))),
    ]);
  }

  /** Requests under way may be answered later. */
  end(): void {
    this.#over = true;
  }
  /** Resolves when the last request was answered. */
  async ended(): Promise<void> {
    await this.#working;
  }

  /** Notes what an answer acknowledges. */
  note(type: Acknowledged['type'], { id, updatedAt }: { readonly id: string; readonly updatedAt: string }): void {
    this.acknowledged.push({ type, intentId: id, at: Date.parse(updatedAt) });
  }

  /** @returns the intent's id; null where the answer was not an acknowledgement */
  async create(api: ApiClient): Promise<string | null> {
    const { status, body } = await api.create({
      chain: this.#rig.chain.caip2,
      token: TOKEN,
      amount: PAYMENT.amount,
      requestor: this.#merchant,
    });
    if (status !== 201) return null;
    this.note('intent.created', body.intent);
    return body.intent.id;
  }

  /** Creates an intent and pays it with one of the chain's wallets. @returns its id when the payment is final */
  async pay(api: ApiClient, payer: number): Promise<string | null> {
    const key = this.#rig.chain.wallets[payer];
    const id = await this.create(api);
    if (id === null || !key) return null;
    const wallet = walletOn(this.#rig.chain, key);
    const built = await api.build(id, wallet.address);
    if (built.status !== 200) return null;
    const sent = await api.submit(id, await wallet.sign(built.body.transaction.blob), wallet.address);
    if (sent.status !== 200) return null;
    this.submitted.set(id, sent.body.txSignature);
    this.note('intent.pending', sent.body.intent);
    while (!this.#over) {
      const { status, body } = await api.get(id);
      if (status === 200 && body.intent.state === 'finalized') {
        this.final.add(id);
        return id;
      }
      await delay(POLL_MS);
    }
    return null;
  }

  async #order(api: ApiClient, round: number): Promise<void> {
    const id = await this.create(api);
    if (id === null || round % 3 !== 0) return;
    const { status, body } = await api.cancel(id);
    if (status === 200) this.note('intent.cancelled', body.intent);
  }

  async #repeat(work: (api: ApiClient, round: number) => Promise<unknown>): Promise<void> {
    for (let round = 0; !this.#over; round++) {
      const url = this.#rig.services.url('gateway');
      try {
        if (url !== null) await work(apiClient(`${url}/v1`, this.#rig.cluster.apiKeys.test), round);
      } catch {
        // Not answered: nothing was promised.
      }
      await delay(THINK_MS);
    }
  }
}
