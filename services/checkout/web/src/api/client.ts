import * as z from 'zod/mini';
import {
  builtSchema,
  fetchedSchema,
  historySchema,
  type Intent,
  intentSchema,
  type Merchant,
  merchantSchema,
  type Unsigned,
  type UnexpectedPayment,
} from './schemas.ts';
import { Requests } from './requests.ts';

const intentAnswer = z.object({ intent: intentSchema });
const submitAnswer = z.object({ intent: intentSchema, txSignature: z.string() });

/** What happened to an intent beside its states. */
export interface Unexpected {
  readonly type: 'intent.mismatched_payment' | 'intent.late_payment' | 'intent.extra_payment';
  readonly payment: UnexpectedPayment;
}
export const UNEXPECTED: ReadonlySet<string> = new Set([
  'intent.mismatched_payment',
  'intent.late_payment',
  'intent.extra_payment',
]);

/** An intent, and what its payer is told beside it. */
interface Fetched {
  readonly intent: Intent;
  readonly solanaPayToken: string | null;
  /** Whether the merchant pays the fee of transactions that are built for it. */
  readonly hasSponsor: boolean;
  /** Where smart wallets ask the merchant to pay the gas; null where it does not. */
  readonly paymasterUrl: string | null;
}

/** The requests that a client secret allows, for its one intent. */
export class Client {
  readonly #merchantPath: string;
  readonly #requests: Requests;

  constructor(intentId: string, clientSecret: string) {
    this.#merchantPath = `/pay/${encodeURIComponent(intentId)}/merchant`;
    this.#requests = new Requests(`/v1/intents/${encodeURIComponent(intentId)}`, clientSecret);
  }

  /** The time of the server: devices are often wrong by minutes. */
  now(): number {
    return this.#requests.now();
  }

  async fetchIntent(): Promise<Fetched> {
    const { intent, solanaPayToken, sponsors, paymasterUrl } = await this.#requests.ask(fetchedSchema, 'GET', '');
    return {
      intent,
      solanaPayToken: solanaPayToken ?? null,
      hasSponsor: sponsors?.some((kind) => kind === 'fee_payer' || kind === 'paymaster') ?? false,
      paymasterUrl: paymasterUrl ?? null,
    };
  }

  /** What arrived otherwise than asked for, oldest first. */
  async fetchUnexpected(): Promise<readonly Unexpected[]> {
    const { events } = await this.#requests.ask(historySchema, 'GET', '/events');
    return events.flatMap(({ type, data: { payment } }) =>
      payment && UNEXPECTED.has(type) ? [{ type: type as Unexpected['type'], payment }] : [],
    );
  }

  async detected(): Promise<Intent> {
    return (await this.#requests.ask(intentAnswer, 'POST', '/detected', {})).intent;
  }

  /** @param sponsored whether the merchant is to pay the fee */
  async build(
    fulfiller: string,
    sponsored: boolean,
  ): Promise<{ readonly intent: Intent; readonly transaction: Unsigned }> {
    return this.#requests.ask(builtSchema, 'POST', '/build', { fulfiller, ...(sponsored && { sponsored }) });
  }

  async submit(signedTransaction: string, fulfiller: string): Promise<Intent> {
    return (await this.#requests.ask(submitAnswer, 'POST', '/submit', { signedTransaction, fulfiller })).intent;
  }

  /** Opens the stream of events. @param after the version that was read last */
  async openStream(after: string | null, signal: AbortSignal): Promise<Response> {
    const headers = { Accept: 'text/event-stream', ...(after ? { 'Last-Event-ID': after } : {}) };
    return this.#requests.open('/events', headers, signal);
  }

  /** Who is paid. It is public, so no secret goes with it. */
  async fetchMerchant(): Promise<Merchant> {
    return this.#requests.readPublic(merchantSchema, this.#merchantPath);
  }
}
