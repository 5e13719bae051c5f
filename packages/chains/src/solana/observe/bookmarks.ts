import type { Address as WalletAddress } from '@pf/domain';
import { bigintText, toJson } from '@pf/contracts';
import { z } from 'zod';
import type { Bookmark, Network } from '../../port.ts';
import { isAddressText } from '../address.ts';
import type { Memory, WatchedAccount } from './memory.ts';
import type { Address } from '@solana/kit';

/** By token: a recipient's account, the slot up to which its transactions were read, and its balance then. */
const bookmark = z.record(
  z.string(),
  z.object({
    account: z
      .string()
      .refine(isAddressText)
      .transform((text) => text as Address),
    read: bigintText,
    /** Null: it did not exist. Absent: what moved it was not read yet, so that its transactions are listed again. */
    balance: bigintText.nullable().optional(),
  }),
);
type Marks = z.infer<typeof bookmark>;

/** By token; null without a bookmark, and for one that cannot be read. */
export function readBookmark(text: Bookmark | undefined): Marks | null {
  if (text === undefined) return null;
  try {
    return bookmark.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * The bookmarks to be stored with the position after this step. Where a transaction was listed and not read yet, the
 * last one stays; a first one says no more than that it begins below that transaction.
 */
export function writeBookmarks(memory: Memory, { tokens }: Network): ReadonlyMap<WalletAddress, Bookmark | null> {
  const bookmarks = new Map<WalletAddress, Bookmark | null>();
  for (const recipient of memory.removed) bookmarks.set(recipient, null);
  const unread = memory.firstUnread();
  for (const recipient of new Set([...memory.added, ...memory.changed])) {
    const accounts = memory.accounts.get(recipient);
    const open = unread.get(recipient);
    if (accounts !== undefined && (open === undefined || memory.added.has(recipient)))
      bookmarks.set(
        recipient,
        toJson(Object.fromEntries(tokens.map(({ address }, place) => [address, markOf(accounts[place], open)]))),
      );
    if (open === undefined) memory.changed.delete(recipient);
    else memory.changed.add(recipient);
  }
  memory.removed.clear();
  memory.added.clear();
  return bookmarks;
}

function markOf(account: WatchedAccount | undefined, unread: bigint | undefined): Marks[string] | undefined {
  if (account === undefined) return undefined;
  const { address, read, balance, changedAt, paging } = account;
  if (unread !== undefined) return { account: address, read: unread <= read ? unread - 1n : read };
  return { account: address, read, ...(changedAt === null && paging === null && { balance }) };
}
