import { ConflictError } from './errors.ts';
import { follow, type Followed, type FollowOptions } from './follow.ts';
import type { CallOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import type {
  BuiltIntent,
  CreateIntent,
  ListIntents,
  PaymentIntent,
  SubmittedIntent,
  TargetState,
  UpdateIntent,
  WebhookEvent,
} from './types.ts';

interface IntentBody {
  readonly intent: PaymentIntent;
}

/** Payment intents. Each method is one request of the API. */
export class Intents {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Creates an intent. Without an `idempotencyKey` of your own one is made, so that a repeated request makes no second intent. */
  create(intent: CreateIntent, options?: CallOptions): Promise<PaymentIntent> {
    return this.#post('', { idempotencyKey: crypto.randomUUID(), ...intent }, options);
  }

  async get(id: string, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.get<IntentBody>(path(id), {}, options)).intent;
  }

  /** Intents of the key's mode, newest first; read as they are walked. */
  list(filter: ListIntents = {}, options?: CallOptions): Pages<PaymentIntent> {
    return new Pages(async (cursor) => {
      const { intents, nextCursor } = await this.#http.get<{ intents: PaymentIntent[]; nextCursor: string | null }>(
        'intents',
        { ...filter, cursor },
        options,
      );
      return { items: intents, nextCursor };
    }, filter.cursor);
  }

  /** Changes an intent that is still as you read it: `updatedAt` says so; ConflictError (`intent.stale_update`) where it is not. */
  async update(id: string, change: UpdateIntent, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.patch<IntentBody>(path(id), change, options)).intent;
  }

  /** The payer's app has learnt the id. */
  detected(id: string, options?: CallOptions): Promise<PaymentIntent> {
    return this.#post(`/${encodeURIComponent(id)}/detected`, {}, options);
  }

  /** The unsigned transaction, for the wallet of `fulfiller`. */
  build(id: string, body: { readonly fulfiller?: string } = {}, options?: CallOptions): Promise<BuiltIntent> {
    return this.#http.post(path(id, '/build'), body, options);
  }

  /** Broadcasts what the wallet signed; or, from wallets that send by themselves, tells the hash. */
  submit(
    id: string,
    body: { readonly signedTransaction: string; readonly fulfiller?: string },
    options?: CallOptions,
  ): Promise<SubmittedIntent> {
    return this.#http.post(path(id, '/submit'), body, options);
  }

  /** Cancels an intent that nobody has begun to pay. One that is cancelled already stays so. */
  async cancel(id: string, options?: CallOptions): Promise<PaymentIntent> {
    try {
      return await this.#post(`/${encodeURIComponent(id)}/cancel`, {}, options);
    } catch (error) {
      // Also the answer to a repeated request whose first answer was lost.
      if (error instanceof ConflictError && error.details?.['current_state'] === 'cancelled')
        return this.get(id, options);
      throw error;
    }
  }

  /** Makes the intent that pays it back: for the requestor to pay. */
  refund(id: string, options?: CallOptions): Promise<PaymentIntent> {
    return this.#post(`/${encodeURIComponent(id)}/refund`, {}, options);
  }

  /** Test keys only: walks the intent to a state, with every event on the way. */
  async simulate(id: string, targetState: TargetState, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.post<IntentBody>(`test/${path(id, '/simulate')}`, { targetState }, options)).intent;
  }

  /** What happened so far, oldest first: the bodies of the webhooks. */
  async events(id: string, options?: CallOptions): Promise<readonly WebhookEvent[]> {
    return (await this.#http.get<{ events: WebhookEvent[] }>(path(id, '/events'), {}, options)).events;
  }

  /** Follows an intent until it is confirmed, or can get no further. */
  follow(id: string, options?: FollowOptions): AsyncGenerator<Followed, void, undefined> {
    return follow(this.#http, id, options);
  }

  async #post(rest: string, body: object, options?: CallOptions): Promise<PaymentIntent> {
    return (await this.#http.post<IntentBody>(`intents${rest}`, body, options)).intent;
  }
}

const path = (id: string, rest = ''): string => `intents/${encodeURIComponent(id)}${rest}`;
