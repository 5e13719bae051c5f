/** What the address of the page says: whose payment it is, and by which right it is shown. */
export interface Link {
  readonly intentId: string;
  /** Null where the address has none and this tab has never seen it. */
  readonly clientSecret: string | null;
  /** Where the shop wants the payer back. It is shown only if its origin is registered. */
  readonly returnUrl: string | null;
}

const PATH = /^\/pay\/(pi_[1-9A-HJ-NP-Za-km-z]{1,22})\/?$/;
const SECRET = /^[1-9A-HJ-NP-Za-km-z]{20,120}$/;

const keyOf = (intentId: string): string => `secret:${intentId}`;

/**
 * Reads the address. The secret is in the fragment, which browsers do not send. It is kept for this tab, so that the
 * address can be cleaned of it and the page still be loaded again. Null for an address without an intent.
 */
export function readLink(url: URL, kept: Pick<Storage, 'getItem' | 'setItem'>): Link | null {
  const [, intentId] = PATH.exec(url.pathname) ?? [];
  if (intentId === undefined) return null;
  const fragment = url.hash.slice(1);
  if (SECRET.test(fragment)) kept.setItem(keyOf(intentId), fragment);
  const secret = SECRET.test(fragment) ? fragment : kept.getItem(keyOf(intentId));
  return {
    intentId,
    clientSecret: secret === null ? null : `${intentId}_secret_${secret}`,
    returnUrl: url.searchParams.get('return'),
  };
}

/** The whole address, secret included: for another device, or the browser inside a wallet. */
export function wholeLink(url: URL, { intentId, clientSecret }: Link): string {
  const secret = clientSecret?.slice(`${intentId}_secret_`.length);
  return `${url.origin}${url.pathname}${url.search}${secret === undefined ? '' : `#${secret}`}`;
}

/** The way back to the shop; null unless it leads to an origin that the account has registered. */
export function allowedReturn(returnUrl: string | null, origins: readonly string[]): string | null {
  const url = returnUrl === null ? null : URL.parse(returnUrl);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  return origins.includes(url.origin) ? url.href : null;
}
