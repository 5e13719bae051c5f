import { base58 as base58Coder } from '@scure/base';
import { z } from 'zod';

/** The bytes of a base58 text; null: it is not base58. */
function decoded(text: string): Uint8Array | null {
  try {
    return base58Coder.decode(text);
  } catch {
    // Not base58.
    return null;
  }
}

export const address = z
  .string()
  .refine(
    (text) => text.length <= 44 && decoded(text)?.length === 32,
    'Invalid param: not a base58 address of 32 bytes',
  );
export const signature = z
  .string()
  .refine(
    (text) => text.length <= 88 && decoded(text)?.length === 64,
    'Invalid param: not a base58 signature of 64 bytes',
  );
/** Decoding base58 takes quadratic time: no more than a transaction of 1,232 bytes has. */
export const base58 = z
  .string()
  .max(1_683)
  .transform((text, context) => {
    const bytes = decoded(text);
    if (bytes === null) context.addIssue('invalid base58 encoding');
    return Buffer.from(bytes ?? []);
  });
export const base64 = z.base64('invalid base64 encoding').transform((text) => Buffer.from(text, 'base64'));
export const blockhash = address;
/** A slot or count: JSON-RPC's u64, within the range of a number. */
export const count = z.number().int().nonnegative();
/** Lamports or base units; also as text, for clients without large numbers. */
export const units = z
  .union([z.number().int().positive(), z.bigint().positive(), z.string().regex(/^[1-9]\d*$/)])
  .transform(BigInt)
  .pipe(z.bigint().max(2n ** 64n - 1n));

/** Nodes still accept the commitment names from before 2020. */
const commitments = {
  processed: 'processed',
  recent: 'processed',
  confirmed: 'confirmed',
  single: 'confirmed',
  singleGossip: 'confirmed',
  finalized: 'finalized',
  root: 'finalized',
  max: 'finalized',
} as const;
export const commitment = z
  .enum(Object.keys(commitments) as (keyof typeof commitments)[])
  .transform((name) => commitments[name]);

/** A node treats undefined and null alike. */
export const optional = <T extends z.ZodType>(
  schema: T,
): z.ZodPipe<
  z.ZodOptional<z.ZodNullable<T>>,
  z.ZodTransform<z.output<T> | undefined, z.output<T> | null | undefined>
> =>
  schema
    .nullable()
    .optional()
    .transform((value: z.output<T> | null | undefined) => value ?? undefined);

/** The last parameter of most methods. */
export const bank = z.looseObject({ commitment: optional(commitment), minContextSlot: optional(count) });
export const encoding = z.enum(['base58', 'base64', 'base64+zstd', 'jsonParsed']);
const dataSlice = z.object({ offset: count, length: count });
/** For methods that return accounts. */
export const accountBank = bank.extend({ encoding: optional(encoding), dataSlice: optional(dataSlice) });
