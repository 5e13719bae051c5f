import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, readStack } from '@pf/testing';
import type { Browser, Response } from 'playwright-core';
import { complete, openBrowser, signIn, turnTo, visit, type Visitor } from './browser.ts';
import { type Clerk, clerkOf, newMember, newShop, type Person, type Shop } from './shop.ts';

const stack = readStack();
const { dashboard } = stack;
const { url } = dashboard;

let browser: Browser;
let owner: Clerk;
let shop: Shop;
let member: Person;
/** The member, whose role changes. */
let visitor: Visitor;
/** A payment that waits, one that is paid, a payment link, and a webhook with a delivery that has failed. */
let [open, paid, linkId, endpointId] = ['', '', '', ''];

beforeAll(async () => {
  [browser, owner] = await Promise.all([openBrowser(), clerkOf(dashboard)]);
  shop = await newShop(owner, 'Roles Ltd.');
  const endpoints = `/accounts/${shop.accountId}/test/v1/webhook-endpoints`;
  const { endpoint } = await owner.call<{ endpoint: { id: string } }>('POST', endpoints, {
    url: 'http://127.0.0.1:9/hook',
  });
  endpointId = endpoint.id;
  const api = apiClient(stack.baseUrl, shop.key);
  const create = async (): Promise<string> => {
    const requestor = '0x1111111111111111111111111111111111111111';
    const { body } = await api.create({ chain: 'eip155:84532', token: 'USDC', amount: '1', requestor });
    return body.intent.id;
  };
  [open, paid] = [await create(), await create()];
  await api.simulate(paid, 'confirmed');
  const { paymentLink } = await owner.call<{ paymentLink: { id: string } }>(
    'POST',
    `/accounts/${shop.accountId}/test/v1/payment-links`,
    {
      amount: '1',
      offers: [{ chain: 'eip155:84532', token: 'USDC', requestor: '0x1111111111111111111111111111111111111111' }],
    },
  );
  linkId = paymentLink.id;
  member = await newMember(url, owner, shop, 'viewer');
  visitor = await visit(browser);
  await signIn(visitor.page, { url, ...member });
});
afterAll(() => browser.close());

/** The buttons and links that each page offers, by what is done with them. */
const ACTIONS = [
  ['payments', 'New payment'],
  ['payments/{open}', 'Cancel'],
  ['payments/{open}', 'Simulate'],
  ['payments/{paid}', 'Refund'],
  ['payments/{paid}', 'Add'],
  ['payment-links', 'New payment link'],
  ['payment-links/{link}', 'Cancel'],
  ['payment-links/{link}', 'Copy the link'],
  ['developers/endpoints', 'Add endpoint'],
  ['developers/endpoints/{endpoint}', 'Send test event'],
  ['developers/endpoints/{endpoint}', 'More'],
  ['developers/quickstart', 'Create a test key and put it in'],
  ['developers/replays', 'Send again'],
  ['developers/keys', 'New test key'],
  ['team', 'Invite'],
  ['settings', 'Rename'],
  ['settings', 'Save wallets'],
] as const;
const PAGES = [
  ...new Set(ACTIONS.map(([page]) => page)),
  'home',
  'attention',
  'developers/deliveries',
  'developers/events',
  'developers/requests',
  'audit',
] as const;

// One cancels a payment, one a payment link.
const FOR_SUPPORT = ['Cancel', 'Cancel', 'Simulate', 'Refund', 'Send again'];
const FOR_DEVELOPERS = [
  ...FOR_SUPPORT,
  'New payment',
  'New payment link',
  'Copy the link',
  'Add',
  'Add endpoint',
  'Send test event',
  'More',
  'Create a test key and put it in',
  'New test key',
  'Save wallets',
];

function urlOf(path: string): string {
  const filled = path
    .replace('{open}', open)
    .replace('{paid}', paid)
    .replace('{link}', linkId)
    .replace('{endpoint}', endpointId);
  return `${url}/accounts/${shop.accountId}/test/${filled}`;
}

/** Loads the application, as it is for the role that the member has now. */
async function load(path: string): Promise<void> {
  await visitor.page.goto(urlOf(path));
  await complete(visitor.page);
}

const setRole = (role: string): Promise<unknown> =>
  owner.call('PATCH', `/accounts/${shop.accountId}/members/${member.userId}`, { role });

describe('a role in the browser', () => {
  it.each([
    ['owner', [...FOR_DEVELOPERS, 'Invite', 'Rename'], []],
    ['developer', FOR_DEVELOPERS, []],
    ['support', FOR_SUPPORT, ['developers/keys', 'developers/requests', 'audit']],
    ['viewer', [], ['developers/keys', 'developers/requests', 'audit']],
  ] as const)(
    'is offered only what it may do, and requests nothing that it may not: %s',
    async (role, offered, closed) => {
      await setRole(role);
      const { page, complaints } = visitor;
      const refused: string[] = [];
      const note = (response: Response): void => {
        if (response.status() === 403) refused.push(response.url());
      };
      page.on('response', note);
      const found: string[] = [];
      const isClosed: string[] = [];
      for (const [index, path] of PAGES.entries()) {
        await (index === 0 ? load(path) : turnTo(page, urlOf(path)));
        for (const [at, name] of ACTIONS)
          if (at === path && (await page.getByRole('button', { name, exact: true }).count()) > 0) found.push(name);
        if (await page.getByText('can open this page').isVisible()) isClosed.push(path);
      }
      expect({ found: found.toSorted(), closed: isClosed.toSorted(), refused }).toEqual({
        found: offered.toSorted(),
        closed: closed.toSorted(),
        refused: [],
      });
      page.off('response', note);
      expect(complaints).toEqual([]);
    },
  );

  it('decides whether a refund may go to another address', async () => {
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    for (const [role, fields] of [
      ['support', 0],
      ['developer', 1],
    ] as const) {
      await setRole(role);
      await load('payments/{paid}');
      await page.getByRole('button', { name: 'Refund', exact: true }).click();
      await dialog.getByRole('button', { name: 'Create refund' }).waitFor();
      expect([role, await dialog.getByLabel('Another address').count()]).toEqual([role, fields]);
      const note = 'Only owners and developers can have it paid to another address';
      expect([role, await dialog.getByText(note).count()]).toEqual([role, 1 - fields]);
      await page.keyboard.press('Escape');
    }
  });

  it('is explained where something is not offered, and takes effect as soon as an owner changes it', async () => {
    await setRole('viewer');
    const { page } = visitor;
    await load('payments/{open}');
    await page.getByText('Your role is viewer. Only owners, developers, and support can cancel').waitFor();
    await setRole('support');
    await load('payments/{open}');
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await turnTo(page, urlOf('payments'));
    await page.getByText('Your role is support. Only owners and developers can create payments.').waitFor();
  });
});
