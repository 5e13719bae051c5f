import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Instance, ServiceName } from '@pf/testing';

/** As the local supervisor does it. */
const RESTART_AFTER_MS = 1_000;

/** Services that are started again when they end, as in production. */
export class KeptServices {
  readonly #cluster: Cluster;
  readonly #running: Instance[] = [];
  readonly #logs: string[] = [];
  readonly #keeping: Promise<void>[] = [];
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

  /** Resolves when they are ready. */
  async start(services: readonly ServiceName[]): Promise<void> {
    await Promise.all(
      services.map(async (service) => {
        const instance = await this.#cluster.start(service);
        this.#keeping.push(this.#keep(instance));
      }),
    );
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
    await Promise.all(this.#keeping);
  }

  async #keep(first: Instance): Promise<void> {
    for (let instance = first; ;) {
      this.#running.push(instance);
      this.#logs.push(instance.log);
      this.#joined(instance);
      await instance.exited;
      this.#running.splice(this.#running.indexOf(instance), 1);
      this.#gone(instance);
      if (this.#stopped.signal.aborted) return;
      this.restarts++;
      await delay(RESTART_AFTER_MS, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      instance = await this.#cluster.start(instance.service, { wait: false });
    }
  }
}
