import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, type Instance, type ServiceName, type StartOptions, until } from '@pf/testing';
import type { Front } from './front.ts';

const REPLICAS = 2;
/**
 * Of the five seconds between the end of a gateway's place in the Service and its SIGTERM (preStop in
 * k8s/base/gateway.yaml) this much: our front learns of it at once.
 */
const PRE_STOP_MS = 250;
/**
 * The startup probes are patient (periodSeconds × failureThreshold): here everything starts at once, on a few cores.
 */
const START_MS = 120_000;
/** A pod that is not gone by then is killed (terminationGracePeriodSeconds). */
const GRACE_MS = 35_000;

/** How the processes of one service came and went. Milliseconds. */
export interface Restarts {
  done: number;
  /** From the start of the process to its readiness. */
  worstStartMs: number;
  /** From SIGTERM to the end of the process. */
  worstEndMs: number;
  /** Processes that did not end by themselves with 0, in words. */
  readonly badEnds: string[];
}

/** Those that take part in payments. */
type PaymentService = Exclude<ServiceName, 'dashboard' | 'checkout' | 'archive'>;

/** What differs where another release runs. */
type OtherStart = Pick<StartOptions, 'release' | 'env'>;

/**
 * Two processes of each service, which are replaced one after the other as a Deployment does: first the new one, then
 * the old one goes.
 */
export class Fleet {
  readonly restarts: Readonly<Record<PaymentService, Restarts>>;
  readonly #cluster: Cluster;
  readonly #front: Front;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #running: Record<PaymentService, Instance[]> = { gateway: [], intent: [], watcher: [], webhook: [] };

  constructor(cluster: Cluster, front: Front, environment: Readonly<Record<string, string>>) {
    this.#cluster = cluster;
    this.#front = front;
    this.#environment = environment;
    const none = (): Restarts => ({ done: 0, worstStartMs: 0, worstEndMs: 0, badEnds: [] });
    this.restarts = { gateway: none(), intent: none(), watcher: none(), webhook: none() };
  }

  /** Replaces every process, with one of each service at a time. */
  async replaceAll(other: OtherStart = {}): Promise<void> {
    for (let replica = 0; replica < REPLICAS; replica++)
      await Promise.all(this.services.map((service) => this.restart(service, other)));
  }

  get services(): readonly PaymentService[] {
    return Object.keys(this.#running) as PaymentService[];
  }

  /** Starts all replicas of all services. */
  async start(other: OtherStart = {}): Promise<void> {
    await Promise.all(
      this.services.flatMap((service) => Array.from({ length: REPLICAS }, () => this.#join(service, other))),
    );
    for (const restarts of Object.values(this.restarts)) restarts.worstStartMs = 0;
  }

  /** Replaces the oldest process of a service; resolves when it is gone. */
  async restart(service: PaymentService, other: OtherStart = {}): Promise<void> {
    const restarts = this.restarts[service];
    await this.#join(service, other);
    const old = this.#running[service].shift();
    if (old === undefined) throw new Error(`no ${service} runs`);
    if (service === 'gateway') {
      this.#front.remove(old.url);
      await delay(PRE_STOP_MS);
    }
    const began = performance.now();
    old.kill('SIGTERM');
    const kill = setTimeout(() => old.kill('SIGKILL'), GRACE_MS);
    const { code, signal } = await old.exited;
    clearTimeout(kill);
    restarts.worstEndMs = Math.max(restarts.worstEndMs, performance.now() - began);
    if (code !== 0) restarts.badEnds.push(`${service} ended with ${signal ?? String(code)}: ${old.log}`);
    restarts.done++;
  }

  async #join(service: PaymentService, other: OtherStart = {}): Promise<void> {
    const began = performance.now();
    const instance = await this.#cluster.start(service, {
      ...other,
      env: { ...this.#environment, ...other.env },
      wait: false,
    });
    await until(
      `${service} to be ready (its log: ${instance.log})`,
      async () => (await fetch(`${instance.health}/readyz`)).ok,
      START_MS,
    );
    this.restarts[service].worstStartMs = Math.max(this.restarts[service].worstStartMs, performance.now() - began);
    this.#running[service].push(instance);
    if (service === 'gateway') this.#front.add(instance.url);
  }
}
