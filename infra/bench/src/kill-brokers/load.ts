import { setTimeout as delay } from 'node:timers/promises';
import { partitionOfKey } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type { Cluster } from '@pf/testing';
import { z } from 'zod';

const CLIENTS_PER_PARTITION = 2;
const PAUSE_MS = 50;
/** Longer than the gateway waits for an outcome. */
const REQUEST_MS = 15_000;
const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const created = z.object({ intent: z.object({ id: z.string() }) });

/** Clients of each partition that create intents and repeat a request until it is acknowledged. */
export class Load {
  /** Idempotency key → intent. */
  readonly acknowledged = new Map<string, string>();
  readonly #gateway: () => string | null;
  readonly #cluster: Cluster;
  readonly #stopped = new AbortController();
  /** By partition, when creates were acknowledged, as of performance.now(). */
  readonly #moments: number[][];
  #clients: Promise<void>[] = [];

  constructor(gateway: () => string | null, cluster: Cluster) {
    this.#gateway = gateway;
    this.#cluster = cluster;
    this.#moments = Array.from({ length: cluster.log.partitions }, () => []);
  }

  start(): void {
    this.#clients = this.#moments.flatMap((_, partition) =>
      Array.from({ length: CLIENTS_PER_PARTITION }, (_, client) => this.#work(partition, client)),
    );
  }

  /** The first acknowledgement of any partition after the moment. */
  fastest(since: number): number | null {
    const firsts = this.#firsts(since).filter((first) => first !== undefined);
    return firsts.length === 0 ? null : Math.min(...firsts);
  }

  /** When the last partition had its first acknowledgement after the moment; null while one has none. */
  slowest(since: number): number | null {
    const firsts = this.#firsts(since);
    return firsts.some((first) => first === undefined) ? null : Math.max(...firsts.map((first) => first ?? 0));
  }

  silentSince(moment: number): number[] {
    return this.#firsts(moment).flatMap((first, partition) => (first === undefined ? [partition] : []));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#clients);
  }

  #firsts(since: number): (number | undefined)[] {
    return this.#moments.map((moments) => moments.find((moment) => moment > since));
  }

  async #work(partition: number, client: number): Promise<void> {
    const { log } = this.#cluster;
    const accountId = this.#cluster.accountId as AccountId;
    for (let round = 0; !this.#stopped.signal.aborted; round++) {
      const key = `${partition}-${client}-${round}`;
      if (partitionOfKey(accountId, false, key, log.partitions) === partition) await this.#insist(partition, key);
    }
  }

  async #insist(partition: number, idempotencyKey: string): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const id = await this.#create(idempotencyKey);
      if (id !== null) {
        this.acknowledged.set(idempotencyKey, id);
        this.#moments[partition]?.push(performance.now());
        return;
      }
      await delay(PAUSE_MS);
    }
  }

  async #create(idempotencyKey: string): Promise<string | null> {
    const url = this.#gateway();
    if (url === null) return null;
    try {
      const response = await fetch(`${url}/v1/intents`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#cluster.apiKeys.test}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          chain: 'eip155:84532',
          token: 'USDC',
          amount: '1.5',
          requestor: REQUESTOR,
          idempotencyKey,
        }),
        signal: AbortSignal.any([AbortSignal.timeout(REQUEST_MS), this.#stopped.signal]),
      });
      const body: unknown = await response.json();
      return response.ok ? created.parse(body).intent.id : null;
    } catch {
      // The gateway ended, or did not respond: the request is repeated.
      return null;
    }
  }
}
