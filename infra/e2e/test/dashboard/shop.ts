import type { Stack } from '@pf/testing';
import { mailedLink } from './mails.ts';

/** A person who uses the dashboard's API without a browser. */
export interface Clerk {
  call<Body>(method: string, path: string, body?: unknown): Promise<Body>;
}

/** A clerk who is not signed in. */
function clerk(url: string): Clerk {
  let cookie = '';
  const call = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: { origin: url, cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const cookies = response.headers.getSetCookie().map((text) => text.split(';')[0]);
    if (cookies.length > 0) cookie = cookies.join('; ');
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  };
  return { call };
}

export async function clerkOf({ url, email, password }: Stack['dashboard']): Promise<Clerk> {
  const signedIn = clerk(url);
  await signedIn.call('POST', '/sign-in', { email, password });
  return signedIn;
}

const PASSWORD = 'a few words in a row';

/** A person of their own, who signs in with the returned e-mail address and password. */
export interface Person {
  readonly email: string;
  readonly password: string;
  readonly userId: string;
}

/** Signs a person up, and makes them a member of an account. */
export async function newMember(
  url: string,
  owner: Clerk,
  { accountId }: Pick<Shop, 'accountId'>,
  role: 'developer' | 'support' | 'viewer',
): Promise<Person> {
  const email = `${role}-${Date.now()}-${Math.floor(Math.random() * 1e6)}@shop.example`;
  const tokenIn = (link: string): string => new URL(link).hash.replace('#token=', '');
  const stranger = clerk(url);
  await stranger.call('POST', '/sign-up', { name: `Robin ${role}`, email, password: PASSWORD });
  const token = tokenIn(await mailedLink(email, 'verify-email'));
  await stranger.call('POST', '/verify-email', { token, password: PASSWORD });
  const person = await clerkOf({ url, email, password: PASSWORD });
  await owner.call('POST', `/accounts/${accountId}/invitations`, { email, role });
  await person.call('POST', '/invitations/accept', { token: tokenIn(await mailedLink(email, 'accept-invitation')) });
  const { user } = await person.call<{ user: { id: string } }>('GET', '/session');
  return { email, password: PASSWORD, userId: user.id };
}

/** An account of its own, and a test key of it. */
export interface Shop {
  readonly accountId: string;
  readonly key: string;
}

export async function newShop(owner: Clerk, name: string): Promise<Shop> {
  const { account } = await owner.call<{ account: { id: string } }>('POST', '/accounts', { name });
  const { secret } = await owner.call<{ secret: string }>('POST', `/accounts/${account.id}/keys`, {
    name: 'Checkout server',
    mode: 'test',
    scope: 'full',
  });
  return { accountId: account.id, key: secret };
}
