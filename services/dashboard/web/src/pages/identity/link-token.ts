/** What a link has under a name in its fragment, which browsers send to no server. */
export const fromLink = (name: string): string => new URLSearchParams(location.hash.slice(1)).get(name) ?? '';

/** The token of the link in a mail. */
export const linkToken = (): string => fromLink('token');

/** Where to go after signing in: a path of this application, from the query. Another site's address is ignored. */
export function nextPath(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  const resolved = URL.canParse(next, location.origin) ? new URL(next, location.origin) : null;
  return resolved?.origin === location.origin && next.startsWith('/')
    ? `${resolved.pathname}${resolved.search}${resolved.hash}`
    : '/';
}
