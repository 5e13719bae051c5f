/** What clients were told, and what they did beside the service. Knows nothing of how the service works. */
export class Model {
  /** Acknowledged intents, and the idempotency key of each. */
  readonly intents = new Set<string>();
  readonly #byKey = new Map<string, string>();
  readonly updates: { readonly id: string; readonly marker: string; readonly updatedAt: string }[] = [];
  readonly detections = new Set<string>();
  readonly cancellations = new Set<string>();
  readonly builds: { readonly id: string; readonly blob: string }[] = [];
  readonly submissions: { readonly id: string; readonly hash: string }[] = [];
  readonly refunds: { readonly id: string; readonly refundId: string }[] = [];
  /** Acknowledged assignments of deposits. */
  readonly assignments: { readonly depositId: string; readonly intentId: string }[] = [];
  /** Hashes of signed transactions that the service was given, by hash: the intent. */
  readonly given = new Map<string, string>();
  readonly byHand = new Set<string>();
  readonly #paidByHand = new Set<string>();
  /** Payments with other terms than their intent's, of which its account has to be told. */
  readonly odd: { readonly id: string; readonly hash: string }[] = [];
  /** Transactions that one upstream shows and that do not exist: in which block. */
  readonly inventions = new Map<string, number>();
  /** The first contradiction in what clients were told. */
  contradiction: string | null = null;

  created(id: string, key: string | null): void {
    this.intents.add(id);
    if (key === null) return;
    const earlier = this.#byKey.get(key);
    if (earlier !== undefined && earlier !== id)
      this.contradiction ??= `the idempotency key ${key} made ${earlier} and ${id}`;
    this.#byKey.set(key, id);
  }

  /** @param updatedAt the state that the client had read: one update of it can succeed */
  updated(id: string, marker: string, updatedAt: string): void {
    const other = this.updates.find((update) => update.id === id && update.updatedAt === updatedAt);
    if (other) this.contradiction ??= `the updates ${other.marker} and ${marker} of ${id} were made to one state`;
    this.updates.push({ id, marker, updatedAt });
  }

  detected(id: string): void {
    this.detections.add(id);
  }

  cancelled(id: string): void {
    this.cancellations.add(id);
  }

  built(id: string, blob: string): void {
    this.builds.push({ id, blob });
  }

  handedOver(id: string, hash: string): void {
    this.given.set(hash, id);
  }

  submitted(id: string, hash: string): void {
    this.submissions.push({ id, hash });
  }

  refunded(id: string, refundId: string): void {
    this.intents.add(refundId);
    this.refunds.push({ id, refundId });
  }

  assigned(depositId: string, intentId: string): void {
    this.assignments.push({ depositId, intentId });
  }

  /** A payment that names no intent. */
  sentPlainly(hash: string): void {
    this.byHand.add(hash);
  }

  sentByHand(id: string, hash: string): void {
    this.byHand.add(hash);
    this.#paidByHand.add(id);
  }

  paidOddly(id: string, hash: string): void {
    this.odd.push({ id, hash });
  }

  invented(hash: string, block: number): void {
    this.inventions.set(hash, block);
  }

  isPaidByHand(id: string): boolean {
    return this.#paidByHand.has(id);
  }
}
