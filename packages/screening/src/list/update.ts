import { createReadStream } from 'node:fs';
import { USER_AGENT } from '@pf/runtime';
import { isEvmAddress } from '../comparable.ts';
import type { SanctionsList } from './list-file.ts';
import { type OfacExport, readOfacExport } from './ofac-export.ts';

/** Where OFAC publishes the whole SDN list. */
export const OFAC_ADVANCED_EXPORT =
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ADVANCED.XML';

/** OFAC's list has had more addresses than this since 2022. */
export const FEWEST_ADDRESSES = 400;
/** OFAC removes parties now and then, but not a tenth of all addresses at once. */
const FEWEST_OF_FORMER = 0.9;
/** The export is large and OFAC's server is slow. */
const DOWNLOAD_MS = 600_000;

const isUrl = (from: string): boolean => /^https?:\/\//i.test(from);

/**
 * Reads an export from a file or a URL.
 * @throws OfacExportError if it is not a complete export; Error with the reason if it cannot be read
 */
export async function fetchExport(from: string): Promise<OfacExport> {
  if (!isUrl(from)) return readOfacExport(createReadStream(from));
  const response = await fetch(from, {
    headers: { 'user-agent': USER_AGENT },
    signal: AbortSignal.timeout(DOWNLOAD_MS),
  });
  if (!response.ok || !response.body) throw new Error(`${from} returned HTTP ${response.status}`);
  return readOfacExport(response.body);
}

/** The list to be written, without duplicates of an address, label and party. */
export function listOf({ publishedOn, addresses }: OfacExport, source: string, fetchedAt: Date): SanctionsList {
  const unique = [
    ...new Map(addresses.map((listed) => [`${listed.uid} ${listed.label} ${listed.address}`, listed])).values(),
  ];
  return {
    version: 1,
    source,
    publishedOn,
    fetchedAt: fetchedAt.toISOString(),
    count: unique.length,
    addresses: unique,
  };
}

/**
 * Checks whether a new list is plausible.
 * @param atLeast the number of addresses that it must have
 * @returns why the list should not replace the former one; null if it should
 */
export function suspicion(next: SanctionsList, former: SanctionsList | null, atLeast: number): string | null {
  if (next.count < atLeast)
    return `it has ${next.count} digital currency addresses, but should have at least ${atLeast}`;
  if (former && next.count < former.count * FEWEST_OF_FORMER)
    return `it has ${next.count} digital currency addresses, but the list in use has ${former.count}`;
  if (former?.publishedOn && next.publishedOn && next.publishedOn < former.publishedOn)
    return `it was published on ${next.publishedOn}, before the list in use (${former.publishedOn})`;
  return null;
}

/** What a new list changes. */
export interface ListChanges {
  readonly added: SanctionsList['addresses'];
  readonly removed: SanctionsList['addresses'];
  /** Addresses that begin with 0x but are not EVM addresses. They are errors of the export and match no wallet. */
  readonly odd: SanctionsList['addresses'];
}

export function changesBetween(former: SanctionsList | null, next: SanctionsList): ListChanges {
  const idOf = ({ address, label, uid }: SanctionsList['addresses'][number]): string => `${uid} ${label} ${address}`;
  const before = new Set(former?.addresses.map(idOf));
  const after = new Set(next.addresses.map(idOf));
  return {
    added: next.addresses.filter((listed) => !before.has(idOf(listed))),
    removed: former?.addresses.filter((listed) => !after.has(idOf(listed))) ?? [],
    odd: next.addresses.filter(({ address }) => address.startsWith('0x') && !isEvmAddress(address)),
  };
}
