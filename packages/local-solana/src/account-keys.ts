import { base58 } from '@scure/base';
import type { Account } from './runtime.ts';
import type { Message } from './wire.ts';

export interface AccountKeys {
  /** Static accounts, then loaded writable ones, then loaded read-only ones: the order that instructions index. */
  readonly all: readonly string[];
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
}

/** The offset of the addresses in a lookup table. */
const TABLE_HEADER = 56;

/**
 * All accounts of a transaction, including those of lookup tables; or the runtime's error name for a missing table or
 * entry.
 */
export function accountKeys(
  message: Message,
  accountOf: (address: string) => Account | null,
): AccountKeys | 'AddressLookupTableNotFound' | 'InvalidAddressLookupTableIndex' {
  const loaded = { writable: [] as string[], readonly: [] as string[] };
  for (const { lookupTableAddress, writableIndexes, readonlyIndexes } of ('addressTableLookups' in message &&
    message.addressTableLookups) ||
    []) {
    const table = accountOf(lookupTableAddress)?.data;
    if (table === undefined) return 'AddressLookupTableNotFound';
    for (const [kind, indexes] of [
      ['writable', writableIndexes],
      ['readonly', readonlyIndexes],
    ] as const) {
      for (const index of indexes) {
        const entry = table.subarray(TABLE_HEADER + 32 * index, TABLE_HEADER + 32 * (index + 1));
        if (entry.length !== 32) return 'InvalidAddressLookupTableIndex';
        loaded[kind].push(base58.encode(entry));
      }
    }
  }
  return { all: [...message.staticAccounts, ...loaded.writable, ...loaded.readonly], loaded };
}
