/** Slots at first. More are made by this factor, so that few are ever empty. */
const FIRST = 64;
const MORE = 1.6;
/** The share of slots that are used at most. */
const FULL = 0.8;

/** FNV-1a, 32 bits. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * Places in an array by names, of which there are only the hashes: 10 to 16 bytes for each name, outside of V8's heap.
 * Open addressing with linear probing.
 */
export class HashedPlaces {
  #used = 0;
  /** By the hash of a name, or behind it: a place, plus one; 0 is empty. */
  #places = new Uint32Array(FIRST);
  /** The hash that each slot is for. */
  #hashes = new Uint32Array(FIRST);

  get bytes(): number {
    return this.#places.byteLength + this.#hashes.byteLength;
  }

  add(name: string, place: number): void {
    if (this.#used >= this.#places.length * FULL) this.#makeSlots();
    this.#put(hashOf(name), place + 1);
    this.#used += 1;
  }

  /** The places of this name, and of others with the same hash. */
  of(name: string): readonly number[] {
    return this.ofHash(hashOf(name));
  }
  ofHash(hash: number): readonly number[] {
    const found: number[] = [];
    for (let slot = this.#homeOf(hash); ; slot = this.#after(slot)) {
      const place = this.#places[slot] ?? 0;
      if (place === 0) return found;
      if (this.#hashes[slot] === hash) found.push(place - 1);
    }
  }

  remove(name: string, place: number): void {
    const hash = hashOf(name);
    let slot = this.#homeOf(hash);
    while (this.#hashes[slot] !== hash || this.#places[slot] !== place + 1) {
      if (this.#places[slot] === 0) return;
      slot = this.#after(slot);
    }
    this.#used -= 1;
    // What was put behind it because it was there moves up: a search ends at the first empty slot.
    let empty = slot;
    for (let next = this.#after(slot); this.#places[next] !== 0; next = this.#after(next)) {
      if (this.#distance(this.#homeOf(this.#hashes[next] ?? 0), next) < this.#distance(empty, next)) continue;
      this.#places[empty] = this.#places[next] ?? 0;
      this.#hashes[empty] = this.#hashes[next] ?? 0;
      empty = next;
    }
    this.#places[empty] = 0;
  }

  #homeOf(hash: number): number {
    return hash % this.#places.length;
  }
  #after(slot: number): number {
    return (slot + 1) % this.#places.length;
  }
  #distance(from: number, to: number): number {
    return (to - from + this.#places.length) % this.#places.length;
  }

  #put(hash: number, place: number): void {
    let slot = this.#homeOf(hash);
    while (this.#places[slot] !== 0) slot = this.#after(slot);
    this.#places[slot] = place;
    this.#hashes[slot] = hash;
  }

  #makeSlots(): void {
    const [places, hashes] = [this.#places, this.#hashes];
    const slots = Math.ceil(places.length * MORE);
    [this.#places, this.#hashes] = [new Uint32Array(slots), new Uint32Array(slots)];
    for (const [slot, place] of places.entries()) if (place !== 0) this.#put(hashes[slot] ?? 0, place);
  }
}
