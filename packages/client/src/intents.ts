import { ConflictError } from './errors.ts';
import { follow, type Followed, type FollowOptions } from './follow.ts';
import { type CallOptions, type CreateOptions, type Http, repeatable } from './http.ts';
import { Pages } from './pages.ts';
import { pay, type Payment } from './pay.ts';
import type {
  BuiltIntent,
  CreateIntent,
  ListIntents,
  PayableIntent,
  PaymentIntent,
  SubmittedIntent,
  TargetState,
  UpdateIntent,
  IntentEvent,
} from './types.ts';

interface IntentBody {
  readonly intent: PaymentIntent;
}

/** Payment intents. Each method sends one request, unless it says otherwise. */
export class Intents {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Creates an intent. Generates an `idempotencyKey` if you pass none, so that a retry creates no second intent.
   * @throws ReusedKeyError if an earlier request with the key asked for another payment
   */
  async create(intent: CreateIntent, options?: CreateOptions): Promise<PaymentIntent> {
    return (await this.createPayable(intent, options)).intent;
  }

  /** Like `create`, and returns with the intent what you pass to its payer. */
  createPayable(intent: CreateIntent, options?: CreateOptions): Promise<PayableIntent> {
    return this.#http.create('intents', intent, options);
  }

  /** Fetches the current intent. */
  async get(id: string, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.get<IntentBody>(path(id), {}, options)).intent;
  }

  /** Like `get`, and returns with the intent what you pass to its payer. Needs a key with the scope `full`. */
  getPayable(id: string, options?: CallOptions): Promise<PayableIntent> {
    return this.#http.get(path(id), {}, options);
  }

  /** Lists the intents of the account in the mode of the key, newest first. Pages are fetched as you iterate. */
  list(filter: ListIntents = {}, options?: CallOptions): Pages<PaymentIntent> {
    return new Pages(async (cursor) => {
      const { intents, nextCursor, endsAt } = await this.#http.get<{
        intents: PaymentIntent[];
        nextCursor: string | null;
        endsAt?: string;
      }>('intents', { ...filter, cursor }, options);
      return { items: intents, nextCursor, ...(endsAt !== undefined && { endsAt }) };
    }, filter.cursor);
  }

  /**
   * Updates an intent. `change.updatedAt` must be the one that you read.
   * @throws ConflictError `intent.stale_update` if the intent has changed since
   */
  async update(id: string, change: UpdateIntent, options?: CallOptions): Promise<PaymentIntent> {
    return repeatable(
      async (onRepeat) => (await this.#http.patch<IntentBody>(path(id), change, { ...options, onRepeat })).intent,
      async (error) => {
        if (!(error instanceof ConflictError) || error.code !== 'intent.stale_update') return null;
        // An attempt whose response was lost may have changed it.
        const intent = await this.get(id, options);
        return includes(intent, change) ? intent : null;
      },
    );
  }

  /** Reports that the payer's app has received the id. */
  detected(id: string, options?: CallOptions): Promise<PaymentIntent> {
    return this.#post(`/${encodeURIComponent(id)}/detected`, {}, options);
  }

  /**
   * Builds the unsigned transaction for the wallet `fulfiller`. Call it right before the wallet signs: it lives until
   * `transaction.expiresAt`, and is replaced by a new one once a third of that time has passed.
   */
  build(
    id: string,
    body: { readonly fulfiller?: string; readonly sponsored?: boolean } = {},
    options?: CallOptions,
  ): Promise<BuiltIntent> {
    return this.#http.post(path(id, '/build'), body, options);
  }

  /** Submits the signed transaction or, for a wallet that has sent it, its hash. */
  submit(
    id: string,
    body: { readonly signedTransaction: string; readonly fulfiller?: string },
    options?: CallOptions,
  ): Promise<SubmittedIntent> {
    return this.#http.post(path(id, '/submit'), body, options);
  }

  /**
   * Builds, has the wallet sign, submits; again if signing took longer than the transaction lived. For wallets that
   * sign and do not send.
   */
  pay(id: string, payment: Payment, options?: CallOptions): Promise<SubmittedIntent> {
    return pay(payment, {
      build: (body) => this.build(id, body, options),
      submit: (body) => this.submit(id, body, options),
    });
  }

  /** Cancels an intent for which no transaction was submitted. Succeeds if it is cancelled already. */
  async cancel(id: string, options?: CallOptions): Promise<PaymentIntent> {
    try {
      return await this.#post(`/${encodeURIComponent(id)}/cancel`, {}, options);
    } catch (error) {
      // A retried cancel gets this error if the response to the first attempt was lost.
      if (error instanceof ConflictError && error.details?.['current_state'] === 'cancelled')
        return this.get(id, options);
      throw error;
    }
  }

  /**
   * Creates the intent that pays this one back. Its fulfiller is the requestor of this one.
   * `to` names who gets the money, where it is not the wallet that paid: required where an assigned deposit has paid.
   */
  async refund(id: string, { to, ...options }: CallOptions & { readonly to?: string } = {}): Promise<PaymentIntent> {
    const body = to === undefined ? {} : { to };
    return repeatable(
      async (onRepeat) =>
        (await this.#http.post<IntentBody>(path(id, '/refund'), body, { ...options, onRepeat })).intent,
      async (error) => {
        const isRefunded = error instanceof ConflictError && error.code === 'intent.already_refunded';
        const refund = isRefunded ? error.details?.['refund_intent_id'] : undefined;
        if (typeof refund !== 'string') return null;
        // An attempt whose response was lost has made it, unless it pays another address.
        const made = await this.get(refund, options);
        return to === undefined || made.requestor.toLowerCase() === to.toLowerCase() ? made : null;
      },
    );
  }

  /** Test keys only: moves the intent to a state, through all states and events between. */
  async simulate(id: string, targetState: TargetState, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.post<IntentBody>(`test/${path(id, '/simulate')}`, { targetState }, options)).intent;
  }

  /** The whole history, oldest first: the bodies of the webhooks. Sends a request for each 100 of them. */
  async events(id: string, options?: CallOptions): Promise<readonly IntentEvent[]> {
    const pages = new Pages(async (cursor) => {
      // A service from before the history had pages returns the whole of it, without a cursor.
      const { events, nextCursor = null } = await this.#http.get<{
        events: IntentEvent[];
        nextCursor?: string | null;
      }>(path(id, '/events'), { cursor }, options);
      return { items: events, nextCursor };
    });
    const all: IntentEvent[] = [];
    for await (const event of pages) all.push(event);
    return all;
  }

  /** Follows an intent until it is confirmed, or its state can no longer change. */
  follow(id: string, options?: FollowOptions): AsyncGenerator<Followed, void, undefined> {
    return follow<PaymentIntent>(this.#http, id, options);
  }

  async #post(rest: string, body: object, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.post<IntentBody>(`intents${rest}`, body, options)).intent;
  }
}

/** Whether an intent has what a change asks for. */
const includes = ({ amount, ttlSeconds, metadata }: PaymentIntent, change: UpdateIntent): boolean =>
  amount === (change.amount ?? amount) &&
  ttlSeconds === (change.ttlSeconds ?? ttlSeconds) &&
  (change.metadata === null
    ? Object.keys(metadata ?? {}).length === 0
    : Object.entries(change.metadata ?? {}).every(([key, value]) => (metadata?.[key] ?? null) === value));

const path = (id: string, rest = ''): string => `intents/${encodeURIComponent(id)}${rest}`;
