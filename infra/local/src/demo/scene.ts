import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiResponse, ApiClient, BuildBody, IntentBody, StackChain, StackWallet, SubmitBody } from '@pf/testing';
import { until } from '@pf/testing';
import { z } from 'zod';
import type { Timeline } from './output.ts';

export const AMOUNT = '1.25';
export type Intent = IntentBody['intent'];

/** One payment on one chain: who pays whom, over which API. */
export interface Scene {
  readonly chain: StackChain;
  readonly api: ApiClient;
  readonly payer: StackWallet;
  /** A new wallet: on Solana it has no token account yet. */
  readonly requestor: StackWallet;
  readonly time: Timeline;
}

/** How often a request is repeated that the service could not answer for the moment. */
const REPEATS = 5;
const unavailable = z.object({ retry_after: z.number() });

/**
 * Repeats a request as long as a response says when: a local chain that is restarted is unavailable for a second.
 * @throws Error with the code and message of any other response than success
 */
async function succeeded<Body>(request: () => Promise<ApiResponse<Body>>, what: string): Promise<Body> {
  let response = await request();
  for (let repeats = 0; response.status === 503 && repeats < REPEATS; repeats++) {
    const { data } = unavailable.safeParse(response.body.error?.details);
    if (!data) break;
    await pause(data.retry_after * 1_000);
    response = await request();
  }
  if (response.status < 300) return response.body;
  const { code, message, details } = response.body.error ?? { code: '', message: 'no message', details: null };
  throw new Error(
    `${what} returned ${response.status} ${code}: ${message}${details ? ` ${JSON.stringify(details)}` : ''}`,
  );
}

export async function create({ api, chain, requestor, time }: Scene): Promise<Intent> {
  // With a key a repeated create makes no second intent.
  const terms = {
    chain: chain.caip2,
    token: 'USDC',
    amount: AMOUNT,
    requestor: requestor.address,
    idempotencyKey: randomUUID(),
    metadata: { order: 'demo' },
  };
  const { intent } = await succeeded(() => api.create(terms), 'POST /intents');
  time.step('POST /intents', `${intent.id} ${intent.state}`);
  return intent;
}

/** What a payer's app does first. */
export async function detect({ api, time }: Scene, { id }: { readonly id: string }): Promise<Intent> {
  const detected = await succeeded(() => api.detected(id), 'detected');
  time.step('POST /intents/{id}/detected', detected.intent.state);
  const { intent } = await succeeded(() => api.get(id), 'GET');
  time.step('GET  /intents/{id}', intent.state);
  return intent;
}

/** Each chain has its own field for the fee; the others are null. */
function fee({
  estimatedFeeEth,
  estimatedFeeLamports,
  estimatedFeeUsdc,
  ataRentLamports,
}: BuildBody['transaction']): string {
  if (estimatedFeeEth !== null) return `fee about ${estimatedFeeEth} ETH`;
  if (estimatedFeeUsdc !== null) return `fee about ${estimatedFeeUsdc} USDC`;
  return (
    `fee about ${estimatedFeeLamports} ` +
    `lamports${ataRentLamports ? `, and ${ataRentLamports} for the requestor's new token account` : ''}`
  );
}

/** @returns the unsigned transaction, base64 */
export async function build({ api, payer, time }: Scene, { id }: Intent): Promise<string> {
  const { transaction } = await succeeded(() => api.build(id, payer.address), 'build');
  time.step('POST /intents/{id}/build', `${transaction.format}, ${fee(transaction)}`);
  return transaction.blob;
}

/** A submission that the service accepted, and when (ms of the scene's timeline). */
export interface Submitted extends Pick<SubmitBody, 'txSignature'> {
  readonly at: number;
}

export async function submit(
  { api, payer, time }: Scene,
  { id }: Intent,
  signing: Promise<string>,
): Promise<Submitted> {
  const signed = await signing;
  time.step('the wallet signs', `${Buffer.from(signed, 'base64').length} bytes`);
  const { intent, txSignature } = await succeeded(() => api.submit(id, signed, payer.address), 'submit');
  const at = time.elapsed();
  time.step('POST /intents/{id}/submit', `${intent.state} ${txSignature}`);
  return { txSignature, at };
}

/** Polls as a simple client would. @throws Error when the intent ends in another state */
export async function reach(
  { api }: Scene,
  { id }: Intent,
  what: string,
  good: (intent: Intent) => boolean,
): Promise<Intent> {
  const last = await until(
    `intent ${id} to be ${what}`,
    async () => {
      const { intent } = await succeeded(() => api.get(id), 'GET');
      return (good(intent) || ['failed', 'expired', 'cancelled'].includes(intent.state)) && intent;
    },
    90_000,
  );
  if (!good(last)) throw new Error(`the intent is ${last.state}, not ${what}`);
  return last;
}

/** The end of every payment that succeeds. */
export async function settle(scene: Scene, intent: Intent, { at }: Submitted): Promise<void> {
  await reach(scene, intent, 'confirmed', ({ state }) => state === 'confirmed' || state === 'finalized');
  scene.time.step('confirmed on chain', `${Math.round(scene.time.elapsed() - at)} ms after submit`);
  await reach(scene, intent, 'finalized', ({ state }) => state === 'finalized');
  scene.time.step('finalized', '');
}
