/**
 * The archive's keys. Everything of a file is named by places: how many events of its log partition were archived
 * before. They go on where another log goes on with the events of this one; offsets do not.
 *
 *     events/day=2026-11-23/partition=3/000000000350.parquet               as it was written, from place 350
 *     events/day=2026-11-23/partition=3/000000000000-000000000349.parquet  merged from those that it names
 *     manifests/partition=3/000000000350.json                              of the file of the same name
 *     heads/partition=3.json                                               the last manifest that was written
 *     keys/5f0c….json                                                      a public key that signs manifests
 */
export interface FileName {
  readonly partition: number;
  /** The place of its first event. */
  readonly first: number;
  /** Of its last event, where it replaces others; null where it is as it was written. */
  readonly last: number | null;
}

const DIGITS = 12;
const place = (number: number): string => String(number).padStart(DIGITS, '0');
const base = ({ first, last }: FileName): string => (last === null ? place(first) : `${place(first)}-${place(last)}`);

/** @param day `2026-11-23`, of its events, in UTC */
export const eventsKey = (day: string, file: FileName): string =>
  `events/day=${day}/partition=${file.partition}/${base(file)}.parquet`;
export const manifestKey = (file: FileName): string => `manifests/partition=${file.partition}/${base(file)}.json`;
/** A text that comes before the manifest of this file and those that follow, and after all others. */
export const manifestsFrom = ({ partition, first }: FileName): string =>
  `manifests/partition=${partition}/${place(first)}`;
export const headKey = (partition: number): string => `heads/partition=${partition}.json`;
/** Null for what is not the head of a partition. */
export function partitionOfHead(key: string): number | null {
  const [, partition] = /^heads\/partition=(\d+)\.json$/.exec(key) ?? [];
  return partition === undefined ? null : Number(partition);
}
export const publicKeyKey = (id: string): string => `keys/${id}.json`;

const NAME = /^(?:events\/day=\d{4}-\d\d-\d\d|manifests)\/partition=(\d+)\/(\d{12})(?:-(\d{12}))?\.(?:parquet|json)$/;

/** Null for anything else that lies there. */
export function readName(key: string): FileName | null {
  const [, partition, first, last] = NAME.exec(key) ?? [];
  if (partition === undefined || first === undefined) return null;
  return { partition: Number(partition), first: Number(first), last: last === undefined ? null : Number(last) };
}

/** True where `file` is among those that `other` was merged from. */
const isReplacedBy = (file: FileName, other: FileName): boolean =>
  file.partition === other.partition &&
  other.last !== null &&
  other.first <= file.first &&
  (file.last ?? file.first) <= other.last &&
  !(file.first === other.first && file.last === other.last);

/** A key with what its name says. */
interface NamedKey extends FileName {
  readonly key: string;
}

/** The keys that are not replaced by another of them, by partition and place. Others are passed over. */
export function currentOf(keys: readonly string[]): {
  readonly current: readonly NamedKey[];
  readonly replaced: readonly NamedKey[];
} {
  const named = keys.flatMap((key): NamedKey[] => {
    const name = readName(key);
    return name === null ? [] : [{ key, ...name }];
  });
  // A merged file comes before those that it replaces, and a larger one before a smaller.
  named.sort((a, b) => a.partition - b.partition || a.first - b.first || (b.last ?? b.first) - (a.last ?? a.first));
  const current: NamedKey[] = [];
  const replaced: NamedKey[] = [];
  for (const file of named) {
    const before = current.at(-1);
    if (before !== undefined && isReplacedBy(file, before)) replaced.push(file);
    else current.push(file);
  }
  return { current, replaced };
}
