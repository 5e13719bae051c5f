import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import { apiClient, readStack, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { openBrowser, signIn, visit, type Visitor } from './browser.ts';
import { type Clerk, clerkOf, newShop, payNothing, type Shop, underpay } from './shop.ts';

const stack = readStack();
const { dashboard } = stack;
const WALLETS = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222'] as const;

let browser: Browser;
let owner: Clerk;
let shop: Shop;
let visitor: Visitor;
let [espresso, cake] = [{} as PublicIntent, {} as PublicIntent];

const create = async (
  amount: string,
  requestor: string,
  metadata?: Readonly<Record<string, string>>,
): Promise<PublicIntent> => {
  const wanted = { chain: 'eip155:84532', token: 'USDC', amount, requestor, ...(metadata && { metadata }) };
  return (await apiClient(stack.baseUrl, shop.key).create(wanted)).body.intent;
};

beforeAll(async () => {
  [browser, owner] = await Promise.all([openBrowser(), clerkOf(dashboard)]);
  shop = await newShop(owner, 'Cafe Ltd.');
  const paid = async (...wanted: Parameters<typeof create>): Promise<PublicIntent> => {
    const { id } = await create(...wanted);
    return (await apiClient(stack.baseUrl, shop.key).simulate(id, 'confirmed')).body.intent;
  };
  espresso = await paid('3.80', WALLETS[0], { order: 'A-1001' });
  cake = await paid('9.40', WALLETS[1], { order: 'A-1002', '=1+1': '=HYPERLINK("https://evil.example")' });
  visitor = await visit(browser);
  await signIn(visitor.page, dashboard);
});
afterAll(() => browser.close());
afterEach(() => expect(visitor.complaints).toEqual([]));

const open = (page: string) => visitor.page.goto(`${dashboard.url}/accounts/${shop.accountId}/test/${page}`);
/** The amounts of the payments that are listed. */
const listed = async (expected: number): Promise<readonly string[]> => {
  const rows = visitor.page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
  await until(`${expected} rows`, async () => (await rows.count()) === expected);
  return (await rows.allTextContents()).map((text) => /\d+\.\d\d/.exec(text)?.[0] ?? '');
};

describe('payments in the browser', () => {
  it('say where their list ends, when older ones are archived', async () => {
    const { page } = visitor;
    const end = page.getByText(/of those created up to .* 2024.* some are not listed/);
    await open('payments');
    expect(await listed(2)).toEqual(['9.40', '3.80']);
    expect(await end.count()).toBe(0);
    await page.route(/\/intents\?/, async (route) => {
      const response = await route.fetch();
      const list = (await response.json()) as Readonly<Record<string, unknown>>;
      await route.fulfill({ response, json: { ...list, endsAt: '2024-05-06T07:08:09.000Z' } });
    });
    await open('payments');
    await until('the end of the list', async () => (await end.count()) === 1);
    await page.unroute(/\/intents\?/);
  });

  it('are found by id, wallet, transaction, reference and metadata', async () => {
    const { page } = visitor;
    await open('payments');
    expect(await listed(2)).toEqual(['9.40', '3.80']);
    const search = async (text: string, meaning: RegExp): Promise<void> => {
      await page.getByRole('button', { name: /^Search/ }).click();
      await page.getByRole('textbox', { name: 'Search' }).fill(text);
      await page.getByRole('link', { name: meaning }).click();
    };
    for (const [text, meaning] of [
      [WALLETS[0], /^Payments to wallet/],
      [espresso.txSignature ?? '', /^Payments by transaction/],
      [espresso.reference, /^Payments with reference/],
      ['order=A-1001', /^Payments with metadata order = A-1001/],
    ] as const) {
      await search(text, meaning);
      expect([meaning, await listed(1)]).toEqual([meaning, ['3.80']]);
    }
    await search(cake.id, /^Payment pi_/);
    await page.getByRole('heading', { level: 1, name: /9\.40/ }).waitFor();
    // What is found nowhere says how to search.
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('textbox', { name: 'Search' }).fill('no such thing');
    await page.getByText('Paste an id, a wallet, a transaction, or metadata as key=value.').waitFor();
    await page.keyboard.press('Escape');
  });

  it('are filtered, with the filters in the URL, and each can be removed', async () => {
    const { page } = visitor;
    await open('payments');
    await page.getByRole('button', { name: 'Filter' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To wallet').fill(WALLETS[1]);
    await dialog.getByLabel('Metadata key').fill('order');
    await dialog.getByLabel('Metadata value').fill('A-1002');
    await dialog.getByRole('button', { name: 'Show payments' }).click();
    expect(await listed(1)).toEqual(['9.40']);
    await page.reload();
    expect(await listed(1)).toEqual(['9.40']);
    await page.getByRole('link', { name: 'Unpaid' }).click();
    await page.getByRole('heading', { name: 'No payment matches' }).waitFor();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    for (const chip of [/order = A-1002/, /To wallet/]) await page.getByRole('button', { name: chip }).click();
    expect(await listed(2)).toEqual(['9.40', '3.80']);
  });

  it('show what happened, with the transaction, and what the payer saw', async () => {
    const { page } = visitor;
    await open(`payments/${espresso.id}`);
    const timeline = page.locator('.timeline');
    await timeline.getByText('The payer saw: Paid.').waitFor();
    const links = await timeline.getByRole('link').all();
    expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
      `https://sepolia.basescan.org/tx/${espresso.txSignature}`,
    ]);
  });

  it('are exported as CSV in which a spreadsheet runs nothing', async () => {
    const { page } = visitor;
    await open('payments?metadata[order]=A-1002');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByText('The payments with order = A-1002').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^payments-test-\d{4}-\d\d-\d\d\.csv$/);
    const [titles, row, ...rest] = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(titles).toMatch(/^"id","created","state","amount",/);
    expect(row).toContain(`"${cake.id}"`);
    expect(row).toContain('"9.4');
    expect(row).not.toMatch(/(^|,)"[=+\-@]/);
    expect(rest).toEqual(['']);
  });

  it('show metadata with its lines, which an edit keeps', async () => {
    const { page } = visitor;
    const note = 'Two lines\nof a note\u202e';
    const { id } = await create('1.10', WALLETS[1], { note });
    await open(`payments/${id}`);
    const written = page.locator('.written');
    expect(await written.innerText()).toBe('Two lines\nof a note\\u202e');
    await page.getByRole('button', { name: 'Edit note' }).click();
    const field = page.getByRole('dialog').getByLabel('Value');
    expect(await field.inputValue()).toBe(note);
    await field.fill('Three\nother\nlines');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await written.innerText()).toBe('Three\nother\nlines');
    const { body } = await apiClient(stack.baseUrl, shop.key).get(id);
    expect(body.intent.metadata).toEqual({ note: 'Three\nother\nlines' });
  });
});

describe('webhooks in the browser', () => {
  let receiver: WebhookReceiver;
  let endpointId: string;
  beforeAll(async () => {
    receiver = await webhookReceiver();
    const { endpoint } = await owner.call<{ endpoint: { id: string } }>(
      'POST',
      `/accounts/${shop.accountId}/test/v1/webhook-endpoints`,
      { url: receiver.url, eventTypes: ['intent.created'] },
    );
    endpointId = endpoint.id;
  });
  afterAll(() => receiver.close());

  it('show what a test event sent, and the response', async () => {
    const { page } = visitor;
    await open(`developers/endpoints/${endpointId}`);
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText(/^Accepted with 200/).waitFor();
    await page.getByRole('button', { name: 'webhook_endpoint.test' }).click();
    const dialog = page.getByRole('dialog');
    const sent = dialog.getByRole('figure', { name: 'What is sent' });
    await sent.waitFor();
    expect(JSON.parse((await sent.locator('pre').textContent()) ?? '')).toEqual(receiver.received[0]?.body);
    await page.keyboard.press('Escape');
  });

  it('show why they failed, need attention, and are sent again: one by one, and many at once', async () => {
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    await open('developers/deliveries');
    // A receiver that is gone is disabled at once, and its deliveries have failed.
    receiver.respond = 410;
    const { id } = await create('4.20', WALLETS[0]);
    await page.getByRole('row', { name: /intent\.created Failed/ }).waitFor();
    await page.getByRole('button', { name: 'intent.created' }).click();
    await dialog.getByText('The response status was 410.').waitFor();
    const sent = dialog.getByRole('figure', { name: 'What is sent' });
    expect(await sent.textContent()).toContain(id);
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Needs attention' }).click();
    await page.getByText('Fix its receiver, then enable it and replay what it has missed.').waitFor();
    await page.getByText('See why it failed, fix the receiver, then resend it.').waitFor();
    await page.getByRole('link', { name: 'Open the webhook' }).first().click();
    receiver.respond = 200;
    await page.getByRole('button', { name: 'Enable' }).click();
    await dialog.getByRole('button', { name: 'Enable' }).click();
    const before = receiver.received.length;

    await page.getByRole('button', { name: 'intent.created' }).first().click();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await until('it to be sent again', () => receiver.received.length > before);
    await dialog.getByText('Delivered', { exact: true }).waitFor();
    await page.keyboard.press('Escape');

    await open('developers/replays');
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await dialog.getByLabel('What arrived, too').check();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('row', { name: /All deliveries.*1 of 1/ }).waitFor();
    expect(receiver.received.filter(({ body }) => body.data.intent?.id === id).length).toBeGreaterThanOrEqual(3);
  });
});

describe('a payment that needs attention in the browser', () => {
  it('is marked as done, and opened again', async () => {
    const { page } = visitor;
    await underpay(stack, owner, shop);
    await open('attention');
    await page.getByRole('button', { name: 'Mark as done: Wrong payment' }).click();
    await page.getByText('Marked as done.').waitFor();
    await page.getByRole('link', { name: 'Done', exact: true }).click();
    await page.getByText(/^Done by /).waitFor();
    await page.getByRole('button', { name: 'Open again: Wrong payment' }).click();
    await page.getByText('Nothing is marked as done').waitFor();
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'Mark as done: Wrong payment' }).waitFor();
    const { entries } = await owner.call<{ entries: { action: string }[] }>('GET', `/accounts/${shop.accountId}/audit`);
    expect(entries.map(({ action }) => action).filter((action) => action.startsWith('attention.'))).toEqual([
      'attention.reopened',
      'attention.done',
    ]);
  });
});

describe('money that pays nothing in the browser', () => {
  it('says why, is ignored, and opened again', async () => {
    const { page } = visitor;
    await payNothing(stack, owner, shop);
    await open('attention');
    await page.getByText('7.00 USDC').waitFor();
    await page.getByText('Nothing in the transfer says which payment it is for.').waitFor();
    await page.getByRole('button', { name: 'Ignore: Unknown money' }).click();
    await page.getByText('Ignored. It is under Ignored now.').waitFor();
    await page.getByRole('button', { name: 'Ignore: Unknown money' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Ignored', exact: true }).click();
    await page.getByText('7.00 USDC').waitFor();
    await page.getByRole('button', { name: 'Open again: Unknown money' }).click();
    await page.getByText('Nothing is ignored').waitFor();
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'Ignore: Unknown money' }).waitFor();
    const { entries } = await owner.call<{ entries: { action: string }[] }>('GET', `/accounts/${shop.accountId}/audit`);
    expect(entries.map(({ action }) => action).filter((action) => action.startsWith('deposit.'))).toEqual([
      'deposit.reopened',
      'deposit.ignored',
    ]);
  });

  it('is assigned to the payment that it may be for, and the assignment undone', async () => {
    const { page } = visitor;
    const intent = await payNothing(stack, owner, shop, '7.00');
    const isNow = (...states: readonly string[]) =>
      until(`the payment to be ${states.join(' or ')}`, async () => {
        const { body } = await apiClient(stack.baseUrl, shop.key).get(intent.id);
        return states.includes(body.intent.state);
      });
    await open('attention');
    const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: '7.00 USDC' }) });
    await card.getByRole('button', { name: `Assign to ${intent.id}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click();
    await page.getByText('Assigned. It is under Assigned now.').waitFor();
    await isNow('confirmed', 'finalized');

    await page.getByRole('link', { name: 'Assigned', exact: true }).click();
    await page.getByRole('button', { name: 'Undo the assignment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo the assignment' }).click();
    await page.getByText('Nothing is assigned').waitFor();
    await isNow('failed');

    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'Assign to a payment' }).first().click();
    await page.getByRole('textbox', { name: 'Payment' }).fill(espresso.id);
    await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click();
    await page.getByText(/The deposit has another recipient and amount than the payment intent asks for/).waitFor();
    await page.keyboard.press('Escape');
  });
});
