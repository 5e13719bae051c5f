import type {
  AccountId,
  Address,
  ChainId,
  CommandId,
  DepositId,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from '@pf/domain';
import { z } from 'zod';

/**
 * Postgres stores neither U+0000 nor lone surrogates, and an event that cannot be projected would block its partition.
 */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** Whether a text has at most `max` characters, counted in code points; the cheap check comes first. */
export const isWithin = (value: string, max: number): boolean => value.length <= max || [...value].length <= max;

const storable = 'must not contain U+0000 or lone surrogates';

/** Text that Postgres can store, in a column and in jsonb. */
export const text = z.string().refine(isStorable, storable);

/** Text that becomes a branded type. Its format was checked where it entered the system; here only its length is. */
const branded = <T extends string>(max = 200) =>
  z.string().min(1).max(max).refine(isStorable, storable) as unknown as z.ZodType<T, string>;

export const intentId = branded<IntentId>(64);
export const depositId = branded<DepositId>(64);
export const accountId = branded<AccountId>(64);
/** A UUID, the type of its column. */
export const commandId = z.uuid() as unknown as z.ZodType<CommandId, string>;
export const chainId = branded<ChainId>(64);
export const address = branded<Address>();
export const tokenAddress = branded<TokenAddress>();
export const transactionHash = branded<TransactionHash>();
export const reference = branded<Reference>();
/** W3C trace context and the id of the HTTP request that caused the message; an observation starts a new trace. */
export const trace = z.object({
  traceparent: z.string().max(128).nullable(),
  requestId: z.string().max(64).nullable(),
});
export type Trace = z.infer<typeof trace>;
/** Milliseconds since 1970. */
export const instant = z.number().int().nonnegative();
/** Base units, block numbers and so on: a decimal string on the wire, bigint in memory. */
export const bigintText = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform((text) => BigInt(text));

/** The amount of an intent: below 10^20, the width of the projection's column. */
export const baseUnits = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform((digits) => BigInt(digits));
/** At most a week (docs/reference/contract.md), so that `expiresAt` is a time that every reader can represent. */
export const ttlSeconds = z.number().int().positive().max(604_800);

/** JSON for messages and rows: bigint as a decimal string, keys in insertion order. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
}
