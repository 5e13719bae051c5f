import { setTimeout as delay } from 'node:timers/promises';
import { apiClient, type ApiClient, seededRandom, until } from '@pf/testing';
import { evmWallet, newWallet } from '@pf/testing/wallets';
import { type Load, startLoad } from '../rollout/load.ts';
import { judge } from '../rollout/verdict.ts';
import { type Fault } from './faults.ts';
import { InsistingRequests } from './insisting.ts';
import type { Rig } from './rig.ts';

/** Calm between two faults, at most: some strike while the last one is not overcome. */
const CALM_MS = 4_000;
/** After a fault something is created again within this time. */
const WORKS_WITHIN_MS = 60_000;
/** Payments become final, and webhooks arrive, within this time after the last fault. */
const SETTLED_MS = 180_000;
const PROBE_EVERY_MS = 100;
/** Longer than a gateway takes to answer. */
const PROBE_MS = 15_000;

/** One fault as it was overcome. Milliseconds. */
export interface Strike {
  readonly fault: string;
  /** From its start to when everything ran again. */
  readonly lastedMs: number;
  /** From then to the first acknowledged create that was sent since; null if there was none within a minute. */
  readonly recoveredMs: number | null;
}

export interface ChaosReport {
  readonly seed: number;
  readonly seconds: number;
  readonly strikes: readonly Strike[];
  /** What clients were told and the log has, and how often they had to repeat a request. */
  readonly created: number;
  readonly updated: number;
  readonly paid: number;
  readonly events: number;
  readonly webhooks: number;
  readonly unanswered: number;
  /** Reads that did not find what was acknowledged, and did when they were repeated. */
  readonly past: number;
  /** Violations, in words. Empty: nothing was lost, doubled or forked. */
  readonly findings: readonly string[];
}

export interface ChaosOptions {
  readonly seed: number;
  /** The next fault; null ends the run. */
  readonly next: (random: () => number) => Fault | null;
  readonly say: (line: string) => void;
}

/** Strikes one fault after the other under load, and compares in the end what was promised with what is there. */
export async function runChaos(rig: Rig, { seed, next, say }: ChaosOptions): Promise<ChaosReport> {
  const random = seededRandom(seed);
  const began = performance.now();
  const { cluster, front, chain, receiver } = rig;
  const findings: string[] = [];
  const requests = new InsistingRequests((failure) => say(failure));
  const api = apiClient(`${front.url}/v1`, cluster.apiKeys.test);
  const merchant = newWallet(chain);
  const load = startLoad(api, chain, merchant.address, requests, { finalMs: SETTLED_MS });
  const probe = new Probe(api, chain.caip2, merchant.address);
  const strikes: Strike[] = [];
  try {
    await until('payments', () => load.promised.paid.size > 0, WORKS_WITHIN_MS);
    for (let fault = next(random); fault !== null; fault = next(random)) {
      const struck = performance.now();
      await fault.strike(rig, random);
      const ended = performance.now();
      const recovered = await probe.after(ended, WORKS_WITHIN_MS);
      const strike = {
        fault: fault.name,
        lastedMs: Math.round(ended - struck),
        recoveredMs: recovered === null ? null : Math.round(recovered - ended),
      };
      strikes.push(strike);
      if (recovered === null) findings.push(`nothing was created within ${WORKS_WITHIN_MS} ms after: ${fault.name}`);
      say(
        `${Math.round((ended - began) / 1000)} s: ${fault.name}, ${strike.lastedMs} ms; ` +
          `created again after ${String(strike.recoveredMs)} ms`,
      );
      await delay(random() * CALM_MS);
    }
  } finally {
    await probe.stop();
    await stopLoad(load, requests, findings);
  }

  // The watcher and the writer finish what the last fault has delayed.
  const received = await evmWallet(chain, merchant).tokenBalance(chain.tokens['USDC'] ?? '');
  const promised = { ...load.promised, created: new Map([...load.promised.created, ...probe.created]) };
  const verdict = await judge({ cluster, promised, receiver, received, archived: true }).catch((error: unknown) => {
    findings.push(error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error));
    return { problems: [], events: 0, repeatedWebhooks: 0 };
  });
  return {
    seed,
    seconds: Math.round((performance.now() - began) / 1000),
    strikes,
    created: promised.created.size,
    updated: promised.updated.size,
    paid: promised.paid.size,
    events: verdict.events,
    webhooks: receiver.received.length,
    unanswered: requests.unanswered,
    past: requests.past,
    findings: [...findings, ...requests.failures, ...verdict.problems],
  };
}

/** Ends the load; what does not end by itself is a finding, and gives up. */
async function stopLoad(load: Load, requests: InsistingRequests, findings: string[]): Promise<void> {
  const stopping = load.stop().then(() => true);
  if (await Promise.race([stopping, delay(SETTLED_MS, false, { ref: false })])) return;
  findings.push(`some requests or payments did not end within ${SETTLED_MS} ms after the last fault`);
  requests.giveUp();
  await Promise.race([stopping, delay(SETTLED_MS, false, { ref: false })]);
}

/** Creates an intent every 100 ms, each sent once: when the system works again shows in the first acknowledged one. */
class Probe {
  /** By idempotency key. */
  readonly created = new Map<string, string>();
  readonly #stopped = new AbortController();
  readonly #working: Promise<void>;
  /** When acknowledged creates were sent and answered. */
  #last = { sent: 0, answered: 0 };
  readonly #body: Readonly<Record<string, unknown>>;
  readonly #api: ApiClient;

  constructor(api: ApiClient, chain: string, requestor: string) {
    this.#api = api;
    this.#body = { chain, token: 'USDC', amount: '1', requestor };
    this.#working = this.#work();
  }

  /** When the first create that was sent after the moment was acknowledged; null if none is within the time. */
  async after(moment: number, withinMs: number): Promise<number | null> {
    const answered = await until('a create', () => this.#last.sent >= moment && this.#last.answered, withinMs).catch(
      () => null,
    );
    return answered;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const sending = new Set<Promise<void>>();
    for (let n = 0; !this.#stopped.signal.aborted; n++) {
      const sent = this.#create(`probe-${n}`).finally(() => sending.delete(sent));
      sending.add(sent);
      await delay(PROBE_EVERY_MS, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
    await Promise.race([Promise.all(sending), delay(PROBE_MS, undefined, { ref: false })]);
  }

  async #create(idempotencyKey: string): Promise<void> {
    const sent = performance.now();
    try {
      const { status, body } = await this.#api.create({ ...this.#body, idempotencyKey });
      if (status !== 201) return;
      this.created.set(idempotencyKey, body.intent.id);
      const answered = performance.now();
      if (sent > this.#last.sent && (this.#last.sent === 0 || answered > this.#last.answered))
        this.#last = { sent, answered };
    } catch {
      // Not repeated: the next one is sent anyway.
    }
  }
}
