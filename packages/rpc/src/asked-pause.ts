import { z } from 'zod';

/** Larger numbers in the header of a reset are times, in seconds or ms since 1970; smaller ones are seconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

const seconds = z.coerce.number().nonnegative();
const header = z.string().trim().min(1);
const headers = z.object({
  'retry-after': header.optional().catch(undefined),
  'ratelimit-reset': header.optional().catch(undefined),
  'x-ratelimit-reset': header.optional().catch(undefined),
});
const ASKING = Object.keys(headers.shape);
/** Infura's. */
const backOff = z.object({ backoff_seconds: seconds });
const backOffIn = z.union([
  backOff.transform((found) => found.backoff_seconds),
  z.object({ rate: backOff }).transform(({ rate }) => rate.backoff_seconds),
]);

/** How long a response asks its client to wait by its headers, in ms; null where it does not say. */
export function pauseInHeaders(of: object, now: number): number | null {
  // Few responses ask for anything, and a schema costs as much as a tenth of a request.
  if (!ASKING.some((name) => name in of)) return null;
  const found = headers.parse(of);
  const after = found['retry-after'];
  if (after !== undefined)
    return seconds.safeParse(after).data === undefined ? untilDate(after, now) : Number(after) * 1_000;
  const reset = seconds.safeParse(found['ratelimit-reset'] ?? found['x-ratelimit-reset']).data;
  if (reset === undefined) return null;
  if (reset >= EPOCH_SECONDS) return Math.max(0, (reset >= EPOCH_MS ? reset : reset * 1_000) - now);
  return reset * 1_000;
}

/** The same, by the `data` of a JSON-RPC error. */
export function pauseInData(data: unknown): number | null {
  if (data === undefined) return null;
  const found = backOffIn.safeParse(data).data;
  return found === undefined ? null : found * 1_000;
}

function untilDate(text: string, now: number): number | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
