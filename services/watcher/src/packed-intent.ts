import { type PaymentIntent, type Reference, type Submission, termsOf } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { Texts } from './kept-intent.ts';

/** What many intents have in common. */
const COMMON = [
  'accountId',
  'livemode',
  'idempotencyKey',
  'chain',
  'token',
  'tokenAddress',
  'decimals',
  'amount',
  'direction',
  'status',
  'retryRequired',
  'pendingAtExpiry',
  'simulated',
] as const satisfies readonly (keyof PaymentIntent)[];
type Common = Pick<PaymentIntent, (typeof COMMON)[number]>;

/** What every intent has for itself. */
const OWN = [
  'id',
  'version',
  'reference',
  'requestor',
  'amountBaseUnits',
  'createdAt',
  'updatedAt',
  'expiresAt',
  'ttlSeconds',
] as const satisfies readonly (keyof PaymentIntent)[];

/** What it has once something has happened to it, and before that. Fields that newer code has added are beside it. */
const HAPPENED = {
  fulfiller: null,
  txSignature: null,
  refundedBy: null,
  refundOf: null,
  detectedAt: null,
  confirmedAt: null,
  finalizedAt: null,
  closedAt: null,
  submissions: [],
  settlement: null,
  otherRefunds: [],
  // What keptOf() leaves out.
  ataRentLamports: null,
  metadata: null,
  build: null,
  transfers: [],
  extraPayments: [],
} as const satisfies Partial<PaymentIntent>;
type Happened = Omit<PaymentIntent, (typeof COMMON)[number] | (typeof OWN)[number]>;

/** What intents have in common, by its content. With more kinds, some intents have a copy of their own. */
const SHARED_MAX = 10_000;
const MS = 1_000;
/** Up to here a number takes no memory of its own. */
const SMALL_MAX = 2n ** 31n - 1n;

/** What happened to an intent, as `form` with blanks, which many intents have in common, and what fills them. */
interface Written {
  readonly form: string;
  readonly values: string;
}

const BYTES_32 = 32;
const IN_HEX = /^0x[0-9a-f]{64}$/;

/** A reference in half of the memory: one in hex as a text of its bytes. Others stay as they are. */
export const packReference = (reference: Reference): string =>
  IN_HEX.test(reference) ? Buffer.from(reference.slice(2), 'hex').toString('latin1') : reference;
const unpackReference = (packed: string): Reference =>
  (packed.length === BYTES_32 ? `0x${Buffer.from(packed, 'latin1').toString('hex')}` : packed) as Reference;

/** An intent in half of the memory, or less. */
export class PackedIntent {
  readonly #common: Common;
  readonly id: PaymentIntent['id'];
  readonly #version: number;
  readonly #reference: string;
  readonly #requestor: PaymentIntent['requestor'];
  readonly #amount: bigint | number;
  readonly #createdAt: number;
  /** ms after that: small numbers take no memory of their own. */
  readonly #expiresIn: number;
  /** Null while nothing has happened. */
  readonly #happened: Written | null;

  constructor(intent: PaymentIntent, common: Common, happened: Written | null) {
    this.#common = common;
    this.id = intent.id;
    this.#version = intent.version;
    this.#reference = packReference(intent.reference);
    this.#requestor = intent.requestor;
    this.#amount = intent.amountBaseUnits <= SMALL_MAX ? Number(intent.amountBaseUnits) : intent.amountBaseUnits;
    this.#createdAt = intent.createdAt;
    this.#expiresIn = intent.expiresAt - intent.createdAt;
    this.#happened = happened;
  }

  unpacked(): PaymentIntent {
    const intent = {
      ...this.#common,
      id: this.id,
      version: this.#version,
      reference: unpackReference(this.#reference),
      requestor: this.#requestor,
      amountBaseUnits: BigInt(this.#amount),
      createdAt: this.#createdAt,
      updatedAt: this.#createdAt,
      expiresAt: this.#createdAt + this.#expiresIn,
      ttlSeconds: this.#expiresIn / MS,
      ...HAPPENED,
    };
    return this.#happened === null ? intent : withWritten(intent, this.#happened);
  }
}

/** Packs intents, and shares what they have in common. */
export class Packing {
  readonly #commons = boundedCache<string, Common>(SHARED_MAX);
  #last: Common | null = null;
  readonly #forms = new Texts(boundedCache<string, string>(SHARED_MAX));

  /**
   * @param kept what keptOf() leaves of an intent. One that cannot be packed comes back as it is.
   */
  pack(kept: PaymentIntent): PackedIntent | PaymentIntent {
    const { ttlSeconds, createdAt, updatedAt, expiresAt } = kept;
    if (updatedAt !== createdAt || ttlSeconds * MS !== expiresAt - createdAt) return kept;
    // It could not be told from a packed one.
    if (kept.reference.length === BYTES_32) return kept;
    const happened = writtenDown(kept);
    return new PackedIntent(
      kept,
      this.#commonOf(kept),
      happened && { form: this.#forms.one(happened.form), values: happened.values },
    );
  }

  #commonOf(kept: PaymentIntent): Common {
    const last = this.#last;
    // Most often it is that of the intent before.
    if (last !== null && COMMON.every((field) => last[field] === kept[field])) return last;
    const key = COMMON.map((field) => kept[field]).join('\n');
    const common =
      this.#commons.get(key) ?? (Object.fromEntries(COMMON.map((field) => [field, kept[field]])) as unknown as Common);
    this.#commons.set(key, common);
    this.#last = common;
    return common;
  }
}

export const unpack = (packed: PackedIntent | PaymentIntent): PaymentIntent =>
  packed instanceof PackedIntent ? packed.unpacked() : packed;

const ELSEWHERE = new Set<string>([...COMMON, ...OWN]);
const NOTHING = new Set(Object.keys(HAPPENED));
const isNothing = (field: string, value: unknown): boolean =>
  NOTHING.has(field) && (value === null || (Array.isArray(value) && value.length === 0));

function isUntouched(intent: PaymentIntent): boolean {
  for (const field in intent)
    if (!ELSEWHERE.has(field) && !isNothing(field, intent[field as keyof PaymentIntent])) return false;
  return true;
}

/** The rest of an intent; null where nothing has happened to it. Submissions are for its own terms. */
function writtenDown(intent: PaymentIntent): Written | null {
  if (isUntouched(intent)) return null;
  const submissions = intent.submissions.map(({ terms: _, ...submission }) => submission);
  const rest = Object.entries({ ...intent, submissions }).filter(
    ([field, value]) => !ELSEWHERE.has(field) && !isNothing(field, value),
  );
  const values: (string | number)[] = [];
  const form = JSON.stringify(blanked(Object.fromEntries(rest), textsOf(intent), values));
  return { form, values: JSON.stringify(values) };
}

/** @param intent before anything happened */
function withWritten(intent: PaymentIntent, { form, values }: Written): PaymentIntent {
  const filling = (JSON.parse(values) as (string | number)[]).values();
  const happened = filled(JSON.parse(form), textsOf(intent), filling) as Partial<Happened>;
  const whole: PaymentIntent = { ...intent, ...happened };
  const terms = termsOf(whole);
  return { ...whole, submissions: whole.submissions.map((submission): Submission => ({ ...submission, terms })) };
}

/** The texts that are known when an intent is filled in. What is filled in first is known to what comes after. */
const textsOf = ({ reference, requestor, tokenAddress, amountBaseUnits }: PaymentIntent): string[] => [
  reference,
  requestor,
  tokenAddress,
  String(amountBaseUnits),
];

/** A text of which there are so few that it stays in the form: a status, or the kind of something. */
const WORD = /^[a-z_]+$/;

/**
 * The value with its numbers and texts moved to `values`, in order. In their places: `#` for a number, `$` for a text,
 * `$n` for a bigint, with the place in `texts` behind it where that has it already.
 */
function blanked(value: unknown, texts: string[], values: (string | number)[]): unknown {
  if (typeof value === 'number') {
    values.push(value);
    return '#';
  }
  if (typeof value !== 'string' && typeof value !== 'bigint')
    return mapped(value, (inner) => blanked(inner, texts, values));
  if (typeof value === 'string' && WORD.test(value)) return value;
  const [kind, text] = typeof value === 'bigint' ? ['$n', value.toString()] : ['$', value];
  const known = texts.indexOf(text);
  if (known >= 0) return `${kind}${known}`;
  texts.push(text);
  values.push(text);
  return kind;
}

/** The value that blanked() was given. @param values what it has moved there */
function filled(value: unknown, texts: string[], values: Iterator<string | number>): unknown {
  if (value === '#') return values.next().value;
  if (typeof value !== 'string') return mapped(value, (inner) => filled(inner, texts, values));
  if (!value.startsWith('$')) return value;
  const kind = value.startsWith('$n') ? '$n' : '$';
  const text = value === kind ? String(values.next().value) : (texts[Number(value.slice(kind.length))] ?? '');
  if (value === kind) texts.push(text);
  return kind === '$n' ? BigInt(text) : text;
}

function mapped(value: unknown, change: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, change(inner)]));
}
