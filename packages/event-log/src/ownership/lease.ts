import type { Cluster } from '../kafka/cluster.ts';

/**
 * A cluster that several questions share, closed when it has been retired and the last of them is answered. Closed under
 * a question, the library connects again by itself, and nobody closes that connection any more.
 */
export class ClusterLease {
  readonly #opening: Promise<Cluster>;
  readonly #closed = Promise.withResolvers<void>();
  #questions = 0;
  #retired = false;

  constructor(opening: Promise<Cluster>) {
    this.#opening = opening;
    // Whoever asks hears of the failure; before anybody does it is nobody's.
    opening.catch(() => undefined);
  }

  async ask<Answer>(question: (cluster: Cluster) => Promise<Answer>): Promise<Answer> {
    this.#questions++;
    try {
      return await question(await this.#opening);
    } finally {
      this.#questions--;
      this.#closeWhenDone();
    }
  }

  /** Takes no more questions. Resolves when closed. */
  retire(): Promise<void> {
    if (!this.#retired) {
      this.#retired = true;
      this.#closeWhenDone();
    }
    return this.#closed.promise;
  }

  #closeWhenDone(): void {
    if (!this.#retired || this.#questions > 0) return;
    // What could not be opened, or has lost its connections, has nothing left to close.
    this.#opening
      .then((cluster) => cluster.close())
      .catch(() => undefined)
      .finally(this.#closed.resolve);
  }
}
