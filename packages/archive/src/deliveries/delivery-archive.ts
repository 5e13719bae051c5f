import type { DeliveryPlace, EndedDeliveries, EndedDelivery } from '@pf/database';
import { z } from 'zod';
import { digestOf } from '../chain.ts';
import type { ParquetFiles } from '../parquet.ts';
import { ArchiveDamagedError } from '../partition-archive.ts';
import { dayOf } from '../row.ts';
import type { ObjectStore } from '../store/object-store.ts';
import {
  DELIVERIES,
  DELIVERY_COLUMNS,
  type DeliveryFile,
  deliveryFile,
  deliveryFilesIn,
  lastEnds,
  MERGED_AT,
  mergeable,
} from './files.ts';

/** Rows that are read and written at once: some 10 MB of memory. */
const PAGE = 10_000;
/** The last place that is archived. */
const HEAD = 'heads/deliveries.json';

const head = z.object({ format: z.literal(1), endedAt: z.iso.datetime(), id: z.string() });

export interface DeliveryArchiveOptions {
  readonly store: ObjectStore;
  readonly parquet: ParquetFiles;
  readonly deliveries: Pick<EndedDeliveries, 'look' | 'page'>;
  readonly now: () => number;
}

/**
 * Archives ended deliveries, each at least once: first a file is created, then the head says how far they are. A
 * process that ends between the two, and another beside it, leave rows twice; readers take the last end of each.
 */
export class DeliveryArchive {
  readonly #options: DeliveryArchiveOptions;
  /** What ended before is archived. */
  #until: number;
  #filesSince = 0;
  #mergedOn = '';

  constructor(options: DeliveryArchiveOptions) {
    this.#options = options;
    this.#until = options.now();
  }

  /** Milliseconds since the time before which everything that ended is archived; at first, since it was made. */
  get lagMs(): number {
    return Math.max(0, this.#options.now() - this.#until);
  }

  /**
   * Archives what had ended before the last run, and merges small files. Whatever fails is left to the next run.
   * @throws StoreUnavailableError, ArchiveDamagedError, and what the database throws
   */
  async round(stopping?: AbortSignal): Promise<void> {
    const { deliveries } = this.#options;
    const until = await deliveries.look();
    if (until === null) return;
    for (let after = await this.#head(); ;) {
      const page = await deliveries.page(after, PAGE);
      if (page.last !== null) {
        await this.#write(page.deliveries);
        await this.#moveHead(page.last);
        after = page.last;
      }
      if (page.deliveries.length < PAGE) break;
      if (stopping?.aborted) return;
    }
    this.#until = until.getTime();
    await this.#mergeSmall(stopping);
  }

  async #write(rows: readonly EndedDelivery[]): Promise<void> {
    const { store, parquet, now } = this.#options;
    const content = await parquet.write(rows, DELIVERY_COLUMNS);
    await store.create(deliveryFile(dayOf(now()), rows.length, content).key, content);
    this.#filesSince++;
  }

  /** Null: nothing is archived, or what lies there is no head. Then everything that the database has is, once more. */
  async #head(): Promise<DeliveryPlace | null> {
    const content = await this.#options.store.read(HEAD);
    const found = content && parsed(content);
    return found ? { endedAt: new Date(found.endedAt), id: found.id } : null;
  }

  /** A slower process may set it back: then rows are archived twice. */
  async #moveHead({ endedAt, id }: DeliveryPlace): Promise<void> {
    const content = JSON.stringify({ format: 1, endedAt: endedAt.toISOString(), id } satisfies z.infer<typeof head>);
    await this.#options.store.replace(HEAD, Buffer.from(`${content}\n`));
  }

  /**
   * Looks for files to merge when there are some new ones, and once on each day. A file that is damaged keeps no others
   * from it.
   */
  async #mergeSmall(stopping?: AbortSignal): Promise<void> {
    const { store, now } = this.#options;
    const today = dayOf(now());
    if (this.#filesSince < MERGED_AT && this.#mergedOn === today) return;
    // What fails is left to the next time: to read the same files in each round would change nothing.
    [this.#filesSince, this.#mergedOn] = [0, today];
    const failures: Error[] = [];
    for (const group of mergeable(deliveryFilesIn(await store.list(DELIVERIES)), today)) {
      if (stopping?.aborted) break;
      await this.#merge(group).catch((error: Error) => failures.push(error));
    }
    const failure = failures.find((error) => error instanceof ArchiveDamagedError) ?? failures[0];
    if (failure) throw failure;
  }

  /** Rows are in the merged file before the others go, so a process that ends leaves them twice. */
  async #merge(group: readonly DeliveryFile[]): Promise<void> {
    const { store, parquet } = this.#options;
    const contents: Uint8Array[] = [];
    for (const { key, sha256 } of group) {
      const content = await store.read(key);
      // Another process has merged it.
      if (content === null) return;
      if (digestOf(content) !== sha256) throw new ArchiveDamagedError(`${key} does not have the bytes of its name`);
      contents.push(content);
    }
    const content = await parquet.merge(contents, (source) => `${lastEnds(source)} ORDER BY ended_at, delivery_id`);
    const merged = deliveryFile(group[0]?.day ?? '', await parquet.count(content), content);
    await store.create(merged.key, content);
    // What an unfinished merge has left over becomes the same file again.
    await store.delete(group.map(({ key }) => key).filter((key) => key !== merged.key));
  }
}

function parsed(content: Uint8Array): z.infer<typeof head> | null {
  try {
    return head.parse(JSON.parse(Buffer.from(content).toString('utf8')));
  } catch {
    return null;
  }
}
