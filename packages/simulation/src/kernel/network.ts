import type { Random } from './random.ts';

/** How messages between processes and servers fare. Everything in it may change while the simulation runs. */
export class Network {
  readonly #random: Random;
  readonly #cuts = new Set<string>();
  /** Of most messages, in milliseconds. */
  delayMs: readonly [least: number, most: number] = [0.1, 2];
  /** The share of messages that are slow. */
  slowShare = 0;
  slowMs: readonly [least: number, most: number] = [2, 500];
  /** The share of requests that never arrive, and of replies. */
  lostRequests = 0;
  lostReplies = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** How long the next message takes, in milliseconds. */
  delay(): number {
    const [least, most] = this.#random.chance(this.slowShare) ? this.slowMs : this.delayMs;
    return this.#random.between(least, most);
  }

  /** Nothing arrives from one to the other any more. The names are those of processes and servers. */
  cut(from: string, to: string): void {
    this.#cuts.add(`${from}>${to}`);
  }

  heal(from: string, to: string): void {
    this.#cuts.delete(`${from}>${to}`);
  }

  healAll(): void {
    this.#cuts.clear();
  }

  losesRequest(from: string, to: string): boolean {
    return this.#random.chance(this.lostRequests) || this.#isCut(from, to);
  }

  losesReply(from: string, to: string): boolean {
    return this.#random.chance(this.lostReplies) || this.#isCut(from, to);
  }

  #isCut(from: string, to: string): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(`${from}>${to}`);
  }
}
