import { z } from 'zod';
import { envelope } from './transport.ts';

/** A call of a JSON-RPC service that is no node of a chain, and the schema of its result. */
export interface ServiceCall<T> {
  readonly method: string;
  /** By name, or in order. */
  readonly params?: Readonly<Record<string, unknown>> | readonly unknown[];
  readonly result: z.ZodType<T>;
}

/** What such a service answered. */
export type ServiceAnswer<T> =
  | { readonly kind: 'result'; readonly value: T }
  /** It refused the call, in its own words. */
  | { readonly kind: 'refused'; readonly message: string }
  /** No answer to this call that its schema accepts. */
  | { readonly kind: 'malformed' };

const ID = 1;
const MESSAGE_MAX = 200;

const response = z.union([
  z.object({ error: z.object({ message: z.string() }) }),
  z.object({ id: z.literal(ID), result: z.unknown() }),
]);

/** The body of the request. */
export const requestText = (call: ServiceCall<unknown>): string => JSON.stringify(envelope(call, ID));

/** Reads the body of the response. Never throws, whatever it is. */
export function readAnswer<T>(call: ServiceCall<T>, body: string): ServiceAnswer<T> {
  let parsed: z.ZodSafeParseResult<z.output<typeof response>>;
  try {
    parsed = response.safeParse(JSON.parse(body));
  } catch {
    return { kind: 'malformed' };
  }
  if (!parsed.success) return { kind: 'malformed' };
  if ('error' in parsed.data) return { kind: 'refused', message: printable(parsed.data.error.message) };
  const result = call.result.safeParse(parsed.data.result);
  return result.success ? { kind: 'result', value: result.data } : { kind: 'malformed' };
}

/** As a message of ours can contain it: short, in one line. */
const printable = (text: string): string =>
  text
    .slice(0, MESSAGE_MAX)
    .toWellFormed()
    .replaceAll(/\p{C}+/gu, ' ')
    .trim();
