import type {
  AccountId,
  Address,
  ChainId,
  CommandId,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from '@pf/domain';
import { z } from 'zod';

/** No NUL and no half of a surrogate pair: Postgres refuses both, and an event that cannot be projected would hold up its partition for ever. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** Counted in characters, not in halves of surrogate pairs; the quick look first. */
export const isWithin = (value: string, max: number): boolean => value.length <= max || [...value].length <= max;

/** Text that Postgres can hold, in a column and in jsonb. */
export const text = z.string().refine(isStorable, 'must be text that can be stored');

/** Text that becomes a branded type. Its form was checked where it entered the system; here only that it is text of a sane length. */
const branded = <T extends string>(max = 200) =>
  z.string().min(1).max(max).refine(isStorable, 'must be text that can be stored') as unknown as z.ZodType<T, string>;

export const intentId = branded<IntentId>(64);
export const accountId = branded<AccountId>(64);
/** A UUID: it names a row of that type. */
export const commandId = z.uuid() as unknown as z.ZodType<CommandId, string>;
export const chainId = branded<ChainId>(64);
export const address = branded<Address>();
export const tokenAddress = branded<TokenAddress>();
export const transactionHash = branded<TransactionHash>();
export const reference = branded<Reference>();
/** Milliseconds since 1970. */
export const instant = z.number().int().nonnegative();
/** Base units, block numbers and the like: decimal text on the wire, bigint inside. */
export const bigintText = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform((text) => BigInt(text));

/** What an intent asks for: below 10^20, as wide as the projection's column. */
export const baseUnits = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform((digits) => BigInt(digits));
/** At most a week (decisions.md): its end is then a time that every reader can write down. */
export const ttlSeconds = z.number().int().positive().max(604_800);

/** JSON for messages and rows: bigint as decimal text, keys in the order they were set. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
}
