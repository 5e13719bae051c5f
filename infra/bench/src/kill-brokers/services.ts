import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Instance, ServiceName, StartOptions } from '@pf/testing';

/** As the local supervisor does it. */
const RESTART_AFTER_MS = 1_000;

/** Services that are started again when they end, as in production. */
export class KeptServices {
  readonly #cluster: Cluster;
  readonly #running: Instance[] = [];
  readonly #logs: string[] = [];
  readonly #keeping: { readonly service: ServiceName; readonly kept: Promise<void> }[] = [];
  /** Those that a person has stopped are not started again. */
  readonly #ended = new Set<ServiceName>();
  readonly #stopped = new AbortController();
  readonly #joined: (instance: Instance) => void;
  readonly #gone: (instance: Instance) => void;
  restarts = 0;

  /** @param joined called with each process when it is ready; `gone` when it has ended */
  constructor(
    cluster: Cluster,
    joined: (instance: Instance) => void = () => undefined,
    gone: (instance: Instance) => void = () => undefined,
  ) {
    this.#cluster = cluster;
    this.#joined = joined;
    this.#gone = gone;
  }

  /** Resolves when they are ready. @param options of these processes and those that replace them */
  async start(services: readonly ServiceName[], options: StartOptions = {}): Promise<void> {
    await Promise.all(
      services.map(async (service) => {
        this.#ended.delete(service);
        const instance = await this.#cluster.start(service, options);
        this.#keeping.push({ service, kept: this.#keep(instance, options) });
      }),
    );
  }

  /** Ends all processes of services in order, and starts no others. Resolves when they are gone. */
  async end(services: readonly ServiceName[]): Promise<void> {
    for (const service of services) this.#ended.add(service);
    for (const instance of this.#running) if (services.includes(instance.service)) instance.kill('SIGTERM');
    await Promise.all(this.#keeping.filter(({ service }) => services.includes(service)).map(({ kept }) => kept));
  }

  /** The URL of a running process of the service; null while there is none. */
  url(service: ServiceName): string | null {
    return this.#running.find((instance) => instance.service === service)?.url ?? null;
  }

  /** The running processes of a service. */
  of(service: ServiceName): readonly Instance[] {
    return this.#running.filter((instance) => instance.service === service);
  }

  /** How many lines of the services' logs contain the text. */
  async countLogged(text: string): Promise<number> {
    const contents = await Promise.all(this.#logs.map((file) => readFile(file, 'utf8')));
    return contents.reduce((total, content) => total + content.split(text).length - 1, 0);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const instance of this.#running) instance.kill('SIGKILL');
    await Promise.all(this.#keeping.map(({ kept }) => kept));
  }

  async #keep(first: Instance, options: StartOptions): Promise<void> {
    const isOver = (): boolean => this.#stopped.signal.aborted || this.#ended.has(first.service);
    for (let instance = first; ;) {
      this.#running.push(instance);
      this.#logs.push(instance.log);
      this.#joined(instance);
      await instance.exited;
      this.#running.splice(this.#running.indexOf(instance), 1);
      this.#gone(instance);
      if (isOver()) return;
      this.restarts++;
      await delay(RESTART_AFTER_MS, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (isOver()) return;
      instance = await this.#cluster.start(instance.service, { ...options, wait: false });
    }
  }
}
