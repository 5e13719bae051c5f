/** A stream of pseudo-random numbers (sfc32). Streams of one seed and different names are independent. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, name = '') {
    let hash = 0x811c9dc5;
    for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = hash >>> 0;
    for (let round = 0; round < 15; round++) this.bits();
  }

  /** 32 random bits, as an integer from 0. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 to 1, without 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer from 0 to `below`, without `below`. */
  int(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  /** A number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + this.fraction() * (high - low);
  }

  /** True with probability `p`. Draws in any case, so that a changed probability moves no later draw. */
  chance(p: number): boolean {
    return this.fraction() < p;
  }

  /** @throws RangeError for an empty list */
  pick<Item>(list: readonly Item[]): Item {
    if (list.length === 0) throw new RangeError('There is nothing to pick from: the list is empty.');
    return list[this.int(list.length)] as Item;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.bits() & 0xff);
  }

  /** A version 4 UUID. */
  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const hex = () => this.bits().toString(16).padStart(8, '0');
    const [a, b, c, d] = [hex(), hex(), hex(), hex()];
    const variant = '89ab'[this.bits() & 3];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }
}
