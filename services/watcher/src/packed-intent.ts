import type { PaymentIntent } from '@pf/domain';
import { LRUCache } from 'lru-cache';

/** What is an intent's own while nothing has happened to it: all else it has in common with others. */
const OWN = [
  'id',
  'version',
  'reference',
  'requestor',
  'amountBaseUnits',
  'createdAt',
  'updatedAt',
  'expiresAt',
] as const satisfies readonly (keyof PaymentIntent)[];
type Own = (typeof OWN)[number];
type Common = Omit<PaymentIntent, Own>;

/** What open intents have in common, by its content. With more kinds, some intents have a copy of their own. */
const SHARED_MAX = 10_000;

/** An intent that nothing has happened to, in a third of the memory. */
export class PackedIntent {
  readonly #common: Common;
  readonly id: PaymentIntent['id'];
  readonly #version: number;
  readonly #reference: PaymentIntent['reference'];
  readonly #requestor: PaymentIntent['requestor'];
  readonly #amount: bigint;
  readonly #createdAt: number;
  /** ms after that: small numbers take no memory of their own. */
  readonly #updatedIn: number;
  readonly #expiresIn: number;

  constructor(intent: PaymentIntent, common: Common) {
    this.#common = common;
    this.id = intent.id;
    this.#version = intent.version;
    this.#reference = intent.reference;
    this.#requestor = intent.requestor;
    this.#amount = intent.amountBaseUnits;
    this.#createdAt = intent.createdAt;
    this.#updatedIn = intent.updatedAt - intent.createdAt;
    this.#expiresIn = intent.expiresAt - intent.createdAt;
  }

  unpacked(): PaymentIntent {
    return {
      ...this.#common,
      id: this.id,
      version: this.#version,
      reference: this.#reference,
      requestor: this.#requestor,
      amountBaseUnits: this.#amount,
      createdAt: this.#createdAt,
      updatedAt: this.#createdAt + this.#updatedIn,
      expiresAt: this.#createdAt + this.#expiresIn,
    };
  }
}

const isPlain = (value: unknown): boolean =>
  value === null || typeof value !== 'object' || (Array.isArray(value) && value.length === 0);

function commonOf(intent: PaymentIntent): Common {
  const common: Partial<PaymentIntent> = { ...intent };
  for (const field of OWN) Reflect.deleteProperty(common, field);
  return common as Common;
}

/** Packs intents that nothing has happened to; others stay as they are. */
export class Packing {
  readonly #shared = new LRUCache<string, Common>({ max: SHARED_MAX });

  pack(intent: PaymentIntent): PackedIntent | PaymentIntent {
    if (intent.status !== 'created' || intent.detectedAt !== null || intent.submissions.length > 0) return intent;
    const common = commonOf(intent);
    if (!Object.values(common).every(isPlain)) return intent;
    const key = JSON.stringify(common);
    const known = this.#shared.get(key);
    if (known === undefined) this.#shared.set(key, common);
    return new PackedIntent(intent, known ?? common);
  }
}

export const unpack = (packed: PackedIntent | PaymentIntent): PaymentIntent =>
  packed instanceof PackedIntent ? packed.unpacked() : packed;
