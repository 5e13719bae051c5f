import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, type Instance, type ServiceName, type StartOptions, until } from '@pf/testing';
import { type Fronts, isEntrance } from './front.ts';

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

/** The processes of one service: those that run, oldest first, and how they came and went. */
interface Member {
  readonly running: Instance[];
  readonly restarts: Restarts;
}

/** Those that take part in payments. */
export const PAYMENT_SERVICES = ['gateway', 'intent', 'watcher', 'webhook'] as const satisfies readonly ServiceName[];
const SERVICES = [...PAYMENT_SERVICES, 'dashboard', 'checkout', 'archive'] as const satisfies readonly ServiceName[];
/** A StatefulSet of one: the old process goes before the new one comes. */
const isAlone = (service: ServiceName): boolean => service === 'archive';

/** What differs where another release runs. */
type OtherStart = Pick<StartOptions, 'release' | 'env'>;

/**
 * Two processes of each service, which are replaced one after the other as a Deployment does: first the new one, then
 * the old one goes. Clients reach them by the fronts.
 */
export class Fleet {
  readonly services: readonly ServiceName[];
  readonly #members: ReadonlyMap<ServiceName, Member>;
  readonly #cluster: Cluster;
  readonly #fronts: Fronts;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(
    cluster: Cluster,
    fronts: Fronts,
    environment: Readonly<Record<string, string>>,
    services: readonly ServiceName[] = SERVICES,
  ) {
    this.#cluster = cluster;
    this.#fronts = fronts;
    this.#environment = {
      GATEWAY_URL: fronts.gateway.url,
      DASHBOARD_URL: fronts.dashboard.url,
      CHECKOUT_URL: fronts.checkout.url,
      ...environment,
    };
    this.services = services;
    const none = (): Restarts => ({ done: 0, worstStartMs: 0, worstEndMs: 0, badEnds: [] });
    this.#members = new Map(services.map((service) => [service, { running: [], restarts: none() }]));
  }

  restartsOf(service: ServiceName): Restarts {
    return this.#member(service).restarts;
  }

  /** Replaces every process, with one of each service at a time. */
  async replaceAll(other: OtherStart = {}): Promise<void> {
    for (let replica = 0; replica < REPLICAS; replica++)
      await Promise.all(this.services.map((service) => this.restart(service, other)));
  }

  /** Starts all replicas of all services. */
  async start(other: OtherStart = {}): Promise<void> {
    await Promise.all(
      this.services.flatMap((service) =>
        Array.from({ length: isAlone(service) ? 1 : REPLICAS }, () => this.#join(service, other)),
      ),
    );
    for (const service of this.services) this.restartsOf(service).worstStartMs = 0;
  }

  /** Replaces the oldest process of a service; resolves when it is gone, and the new one is ready. */
  async restart(service: ServiceName, other: OtherStart = {}): Promise<void> {
    if (!isAlone(service)) await this.#join(service, other);
    await this.#leave(service);
    if (isAlone(service)) await this.#join(service, other);
  }

  async #leave(service: ServiceName): Promise<void> {
    const { restarts, running } = this.#member(service);
    const old = running.shift();
    if (old === undefined) throw new Error(`no ${service} runs`);
    if (isEntrance(service)) {
      this.#fronts[service].remove(old.url);
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

  async #join(service: ServiceName, other: OtherStart = {}): Promise<void> {
    const { restarts, running } = this.#member(service);
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
    restarts.worstStartMs = Math.max(restarts.worstStartMs, performance.now() - began);
    running.push(instance);
    if (isEntrance(service)) this.#fronts[service].add(instance.url);
  }

  #member(service: ServiceName): Member {
    const member = this.#members.get(service);
    if (!member) throw new Error(`${service} is not in this fleet`);
    return member;
  }
}
