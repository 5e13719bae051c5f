import { randomBytes } from 'node:crypto';
import type { ShownPaymentLink } from '@pf/contracts';
import type { PublicIntent, Reference } from '@pf/domain';
import { apiClient, chainOf, type Stack, until } from '@pf/testing';
import { evmWallet, walletOn } from '@pf/testing/wallets';
import { PASSWORD } from './browser.ts';
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

/** Creates an account. A person may create ten an hour, and in a run of the tests one person creates them all. */
export async function newShop(owner: Clerk, name: string): Promise<Shop> {
  const { account } = await owner.call<{ account: { id: string } }>('POST', '/accounts', { name });
  const { secret } = await owner.call<{ secret: string }>('POST', `/accounts/${account.id}/keys`, {
    name: 'Checkout server',
    mode: 'test',
    scope: 'full',
  });
  return { accountId: account.id, key: secret };
}

const BASE = 'eip155:84532';
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const TEMPO = 'eip155:42431';
export const SOLANA_WALLET = '7bNpZ1qKfQv6rJ8Yx3wHcT5eUoLsGdMa2RkVnXhWiJBy';

/** A day at a coffee shop: in which states its payments are, oldest first. */
const PAYMENTS = [
  { amount: '4.20', item: 'Flat white', state: 'finalized' },
  { amount: '32.00', item: 'Beans, 1 kg', state: 'finalized', chain: TEMPO },
  { amount: '3.80', item: 'Espresso, double', state: 'expired' },
  { amount: '7.90', item: 'Brunch', state: 'finalized' },
  { amount: '18.50', item: 'Gift card', state: 'cancelled' },
  { amount: '5.60', item: 'Cappuccino', state: 'failed' },
  { amount: '126.00', item: 'Grinder, deposit', state: 'confirmed', token: 'EURC' },
  { amount: '4.20', item: 'Flat white', state: 'confirmed' },
  { amount: '1250.00', item: 'Espresso machine', state: 'confirmed', chain: TEMPO },
  { amount: '9.40', item: 'Cake, two pieces', state: 'pending' },
  { amount: '4.20', item: 'Flat white', state: 'created' },
] as const;

/** Fills an account with what a shop has after a day. @returns a payment that was paid */
export async function fill(stack: Stack, owner: Clerk, shop: Shop): Promise<PublicIntent> {
  const { key } = shop;
  const api = apiClient(stack.baseUrl, key);
  const { merchant } = walletsOf(stack);
  const create = async (body: Record<string, unknown>): Promise<PublicIntent> => {
    const { body: made } = await api.create({ token: 'USDC', chain: BASE, requestor: merchant.address, ...body });
    if (made.error) throw new Error(made.error.message);
    return made.intent;
  };
  let shown: PublicIntent | undefined;
  for (const [index, { amount, item, state, ...more }] of PAYMENTS.entries()) {
    const intent = await create({ amount, metadata: { order: `A-${1001 + index}`, item }, ...more });
    await api.detected(intent.id);
    if (state === 'created') continue;
    const { body } = await api.simulate(intent.id, state);
    if (state === 'confirmed') shown = body.intent;
  }
  await create({ amount: '6.10', chain: SOLANA, requestor: SOLANA_WALLET, metadata: { order: 'A-1012' } });
  await underpay(stack, owner, shop, { order: 'A-1013', item: 'Lunch' });
  if (!shown) throw new Error('No payment is confirmed.');
  return shown;
}

/** Payment links: one that is paid, one that is cancelled. @returns one of which a payment has begun */
export async function linkOf(stack: Stack, owner: Clerk, { accountId, key }: Shop): Promise<ShownPaymentLink> {
  const links = `/accounts/${accountId}/test/v1/payment-links`;
  const { merchant } = walletsOf(stack);
  const offers = [
    { chain: BASE, token: 'USDC', requestor: merchant.address },
    { chain: SOLANA, token: 'USDC', requestor: SOLANA_WALLET },
    { chain: TEMPO, token: 'USDC', requestor: merchant.address },
  ];
  const create = async (amount: string, metadata: Readonly<Record<string, string>>): Promise<string> =>
    (await owner.call<{ paymentLink: ShownPaymentLink }>('POST', links, { amount, offers, metadata })).paymentLink.id;
  const choose = async (id: string, offer: number): Promise<string> =>
    (await owner.call<{ intent: PublicIntent }>('POST', `${links}/${id}/choose`, { offer })).intent.id;
  const get = async (id: string): Promise<ShownPaymentLink> =>
    (await owner.call<{ paymentLink: ShownPaymentLink }>('GET', `${links}/${id}`)).paymentLink;
  const paid = await create('64.00', { order: 'A-1014', item: 'Catering' });
  await apiClient(stack.baseUrl, key).simulate(await choose(paid, 0), 'confirmed');
  await until('the link to be paid', async () => (await get(paid)).state === 'paid');
  const cancelled = await create('12.00', { order: 'A-1015', item: 'Workshop' });
  await owner.call('POST', `${links}/${cancelled}/cancel`, {});
  const open = await create('240.00', { order: 'A-1016', item: 'Grinder' });
  await choose(open, 1);
  return get(open);
}

function walletsOf(stack: Stack) {
  const [, , payer, merchant] = chainOf(stack, 'base').wallets;
  if (!payer || !merchant) throw new Error('The stack has too few wallets.');
  return { payer, merchant };
}

/** A real wallet pays 12.00 of 12.50: the payment needs attention. */
export async function underpay(
  stack: Stack,
  owner: Clerk,
  { accountId, key }: Shop,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { payer, merchant } = walletsOf(stack);
  const wanted = { token: 'USDC', chain: BASE, requestor: merchant.address, amount: '12.50', metadata };
  const { body } = await apiClient(stack.baseUrl, key).create(wanted);
  const chain = chainOf(stack, 'base');
  const usdc = chain.tokens['USDC'] ?? '';
  await walletOn(chain, payer).pay(usdc, merchant.address, 12_000_000n, body.intent.reference as Reference);
  await until('what needs attention', async () => {
    const path = `/accounts/${accountId}/test/attention?kind=mismatched_payment`;
    return (await owner.call<{ attention: unknown[] }>('GET', path)).attention.length > 0;
  });
}

/**
 * A real wallet pays 7.00 to a wallet that an intent of the shop names, and names no intent.
 * @param asked the amount of that intent
 * @returns the intent
 */
export async function payNothing(
  stack: Stack,
  owner: Clerk,
  { accountId, key }: Shop,
  asked = '12.50',
): Promise<PublicIntent> {
  const { payer } = walletsOf(stack);
  const chain = chainOf(stack, 'base');
  // Of this shop alone: what others are paid is none of its deposits.
  const requestor = `0x${randomBytes(20).toString('hex')}`;
  const wanted = { token: 'USDC', chain: BASE, requestor, amount: asked };
  const { intent } = (await apiClient(stack.baseUrl, key).create(wanted)).body;
  await evmWallet(chain, payer).transfer(chain.tokens['USDC'] ?? '', requestor, 7_000_000n);
  await until('the deposit', async () => {
    const path = `/accounts/${accountId}/test/attention?kind=deposit`;
    const { attention } = await owner.call<{ attention: { deposit: { recipient: string } }[] }>('GET', path);
    return attention.some(({ deposit }) => deposit.recipient === intent.requestor);
  });
  return intent;
}
