import type { AccountId, Address, ChainId, CommandId, IntentId, Reference, TokenAddress, TransactionHash } from '@pf/domain';
import { z } from 'zod';

/** Text that becomes a branded type. Its form was checked where it entered the system; here only that it is text of a sane length. */
const branded = <T extends string>(max = 200) => z.string().min(1).max(max) as unknown as z.ZodType<T, string>;

export const intentId = branded<IntentId>(64);
export const accountId = branded<AccountId>(64);
export const commandId = branded<CommandId>(64);
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

/** JSON for messages and rows: bigint as decimal text, keys in the order they were set. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
}
