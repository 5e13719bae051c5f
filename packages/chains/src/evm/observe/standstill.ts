import type { Instant } from '@pf/domain';

/**
 * Whether the second reading of blocks goes on, for the operator: it waits, without an end, where the upstream that is
 * asked first shows blocks of its own or stands still, or where the second one does not respond. In memory.
 */
export class Standstill {
  #reached: bigint | null = null;
  #head = 0n;
  #since: Instant | null = null;

  /**
   * A step has come to its end.
   * @param readTwice up to which block was read a second time
   * @param head the newest block
   * @returns ms since when there are further blocks and none was read a second time
   */
  after(readTwice: bigint, head: bigint, now: Instant): number {
    if (readTwice !== this.#reached) [this.#reached, this.#head, this.#since] = [readTwice, head, null];
    else if (head !== this.#head) this.#since ??= now;
    return this.#since === null ? 0 : now - this.#since;
  }
}
