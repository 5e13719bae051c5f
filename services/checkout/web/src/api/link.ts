/** What the address of the page says: what is shown, and by which right. */
interface Place {
  /** Null where the address has none and this tab has never seen it. */
  readonly clientSecret: string | null;
  /** Where the shop wants the payer back. It is shown only if its origin is registered. */
  readonly returnUrl: string | null;
}

/** The address of a payment. */
export interface Link extends Place {
  readonly intentId: string;
  /** The address of the payment link that it was chosen from; null if this tab does not know its secret. */
  readonly offersUrl: string | null;
}

/** The address of a payment link: several ways to pay, of which the payer chooses. */
export interface OffersLink extends Place {
  readonly linkId: string;
}

const PATH = /^\/pay\/(pi_[1-9A-HJ-NP-Za-km-z]{1,22})\/?$/;
const OFFERS_PATH = /^\/link\/(pl_[1-9A-HJ-NP-Za-km-z]{1,22})\/?$/;
const OFFERS_ID = /^pl_[1-9A-HJ-NP-Za-km-z]{1,22}$/;
const SECRET = /^[1-9A-HJ-NP-Za-km-z]{20,120}$/;
/** Names the payment link in the address of a payment. */
const OFFERS_PARAM = 'link';

type Kept = Pick<Storage, 'getItem' | 'setItem'>;
const keyOf = (id: string): string => `secret:${id}`;

/**
 * Reads the address. The secret is in the fragment, which browsers do not send. It is kept for this tab, so that the
 * address can be cleaned of it and the page still be loaded again. Null for an address without an intent.
 */
export function readLink(url: URL, kept: Kept): Link | null {
  const [, intentId] = PATH.exec(url.pathname) ?? [];
  if (intentId === undefined) return null;
  return { intentId, ...placeOf(url, intentId, kept), offersUrl: offersUrlOf(url, kept) };
}

/** Like `readLink`, for the address of a payment link. */
export function readOffersLink(url: URL, kept: Kept): OffersLink | null {
  const [, linkId] = OFFERS_PATH.exec(url.pathname) ?? [];
  return linkId === undefined ? null : { linkId, ...placeOf(url, linkId, kept) };
}

function placeOf({ hash, searchParams }: URL, id: string, kept: Kept): Place {
  const fragment = hash.slice(1);
  if (SECRET.test(fragment)) kept.setItem(keyOf(id), fragment);
  const secret = SECRET.test(fragment) ? fragment : kept.getItem(keyOf(id));
  return { clientSecret: secret === null ? null : `${id}_secret_${secret}`, returnUrl: searchParams.get('return') };
}

/** The whole address, secret included: for another device, or the browser inside a wallet. */
export function wholeLink(url: URL, { intentId, clientSecret }: Link): string {
  const secret = clientSecret?.slice(`${intentId}_secret_`.length);
  return `${url.origin}${url.pathname}${url.search}${secret === undefined ? '' : `#${secret}`}`;
}

/** The address of the payment that was chosen on the page of a payment link. @param url the address of that page */
export function chosenLink(url: URL, { linkId }: OffersLink, clientSecret: string): string {
  const [intentId = '', secret = ''] = clientSecret.split('_secret_');
  const search = new URLSearchParams(url.search);
  search.set(OFFERS_PARAM, linkId);
  return `/pay/${intentId}?${search}#${secret}`;
}

function offersUrlOf({ searchParams }: URL, kept: Kept): string | null {
  const linkId = searchParams.get(OFFERS_PARAM) ?? '';
  if (!OFFERS_ID.test(linkId) || kept.getItem(keyOf(linkId)) === null) return null;
  const search = new URLSearchParams(searchParams);
  search.delete(OFFERS_PARAM);
  return `/link/${linkId}${search.size > 0 ? `?${search}` : ''}`;
}

/** The way back to the shop; null unless it leads to an origin that the account has registered. */
export function allowedReturn(returnUrl: string | null, origins: readonly string[]): string | null {
  const url = returnUrl !== null && URL.canParse(returnUrl) ? new URL(returnUrl) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  return origins.includes(url.origin) ? url.href : null;
}
