import type { Instant, IntentId } from '@pf/domain';
import { HashedPlaces, hashOf } from './hashed-places.ts';

const DAY_MS = 86_400_000;
const dayOf = (at: Instant): number => Math.floor(at / DAY_MS);

const PREFIX = 'pi_';
/** Characters of an id behind its prefix. */
const ID_BYTES = 22;
/** Room for so many intents at first. More is made by this factor, so that little of it is ever empty. */
const FIRST = 32;
const MORE = 1.25;

/** Those whose time is up on the same day. Nothing is taken out of it. */
class Day {
  #count = 0;
  #ids = Buffer.alloc(FIRST * ID_BYTES);
  /** Those that have another form than the ids that are made here, by their place. */
  readonly #odd = new Map<number, IntentId>();
  #versions = new Uint32Array(FIRST);
  readonly #places = new HashedPlaces();

  get size(): number {
    return this.#count;
  }
  get bytes(): number {
    return this.#ids.byteLength + this.#versions.byteLength + this.#places.bytes;
  }

  add(names: readonly string[], id: IntentId, version: number): void {
    if (this.#count === this.#versions.length) this.#makeRoom();
    if (id.startsWith(PREFIX) && id.length <= PREFIX.length + ID_BYTES)
      this.#ids.write(id.slice(PREFIX.length), this.#count * ID_BYTES, 'latin1');
    else this.#odd.set(this.#count, id);
    this.#versions[this.#count] = version;
    for (const name of names) this.#places.add(name, this.#count);
    this.#count += 1;
  }

  of(hash: number): readonly (readonly [id: IntentId, version: number])[] {
    return this.#places
      .ofHash(hash)
      .map((place) => [this.#odd.get(place) ?? this.#idAt(place), this.#versions[place] ?? 0] as const);
  }

  #idAt(place: number): IntentId {
    const bytes = this.#ids.subarray(place * ID_BYTES, (place + 1) * ID_BYTES);
    const end = bytes.indexOf(0);
    return `${PREFIX}${bytes.toString('latin1', 0, end < 0 ? ID_BYTES : end)}` as IntentId;
  }

  #makeRoom(): void {
    const room = Math.ceil(this.#versions.length * MORE);
    const [ids, versions] = [Buffer.alloc(room * ID_BYTES), new Uint32Array(room)];
    ids.set(this.#ids);
    versions.set(this.#versions);
    [this.#ids, this.#versions] = [ids, versions];
  }
}

/**
 * The closed intents that nothing is known to change any more, in some 45 bytes each: what payments may name them by,
 * as a hash, and the id and version by which the projection has all the rest.
 */
export class RestingIntents {
  readonly #days = new Map<number, Day>();

  /** Some may be counted twice: those that changed and came to rest again. */
  get size(): number {
    return [...this.#days.values()].reduce((sum, { size }) => sum + size, 0);
  }
  get bytes(): number {
    return [...this.#days.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @param until when its time is up */
  add(names: readonly string[], id: IntentId, version: number, until: Instant): void {
    const day = this.#days.get(dayOf(until)) ?? new Day();
    this.#days.set(dayOf(until), day);
    day.add(names, id, version);
  }

  /** The intents that a name may be of, each with its version when it came to rest the last time. */
  of(name: string): ReadonlyMap<IntentId, number> {
    const found = new Map<IntentId, number>();
    const hash = hashOf(name);
    for (const day of this.#days.values())
      for (const [id, version] of day.of(hash)) found.set(id, Math.max(version, found.get(id) ?? 0));
    return found;
  }

  /** Drops those whose time was up before today. */
  drop(now: Instant): void {
    for (const day of this.#days.keys()) if (day < dayOf(now)) this.#days.delete(day);
  }
}
