// Takes the screenshots of docs/guide/let-people-pay.md: of the page as it was built, before a stand-in for the
// services, which is in every state at once.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Intent } from '../../../../services/checkout/web/src/api/schemas.ts';
import {
  ACCOUNT,
  EvmWallet,
  HASH,
  open,
  type Opened,
  type Setting,
  solanaWallet,
} from '../../../../services/checkout/web/test/browser/opened.ts';
import type { StandIn } from '../../../../services/checkout/web/test/browser/stand-in.ts';
import { declined } from '../../../../services/checkout/web/test/browser/wallets.ts';
import { openBrowser, shoot } from '../dashboard/browser.ts';
import { COLORS } from '../dashboard/pages.ts';
import { type StateName, STATES_FOLDER } from './states.ts';

/** A phone; the page fits in without scrolling. */
const SIZE = { width: 390, height: 780 };
const AMOUNT = { amount: '24.90', amountBaseUnits: '24900000' } as const;
const BUILT = { amount: 24_900_000n };
const SENT: Partial<Intent> = { fulfiller: ACCOUNT, txSignature: HASH };
const PAID: Partial<Intent> = { ...SENT, state: 'confirmed', confirmedAt: '2026-11-22T12:00:00.000Z' };
const OTHER = { txSignature: HASH, sender: ACCOUNT, amount: '20.00', differs: ['amount'] };

interface Scene extends Omit<Setting, 'family'> {
  readonly family?: Setting['family'];
  /** What happens until the picture is taken. */
  readonly act?: (opened: Opened) => Promise<void>;
  /** The title of the status then. */
  readonly title: string;
}

const wallet = new EvmWallet('base').install;
const asking = new EvmWallet('base', { eth_sendTransaction: () => new Promise(() => undefined) }).install;
const refusing = new EvmWallet('base', {
  eth_sendTransaction: () => {
    throw declined;
  },
}).install;
const choose = ({ page }: Opened): Promise<void> => page.getByRole('button', { name: 'Amber' }).click();
const pay = async (opened: Opened): Promise<void> => {
  await choose(opened);
  await opened.page.getByRole('button', { name: /^Pay 24\.90/ }).click();
};

/** A payment on Solana of which the merchant pays the network fee. */
const sponsored = (changes: Partial<Pick<StandIn, 'isSponsoredAlive'>>) => ({
  family: 'solana' as const,
  install: solanaWallet('signTransaction'),
  prepare: (standIn: StandIn) => void Object.assign(standIn, { sponsors: ['fee_payer'], ...changes }),
});
const chooseViolet = ({ page }: Opened): Promise<void> => page.getByRole('button', { name: 'Violet' }).click();

/** The page of a payment link. */
const link = (changes: Partial<StandIn['paymentLink']>): Pick<Scene, 'kind' | 'prepare'> => ({
  kind: 'link',
  prepare: (standIn) => {
    const { paymentLink } = standIn;
    const offers = [...paymentLink.offers.slice(0, 2), { chain: 'eip155:42431' as never, token: 'USDC' }];
    standIn.paymentLink = { ...paymentLink, offers, ...changes };
  },
});

const SCENES: Readonly<Record<StateName, Scene>> = {
  choose: { install: wallet, title: 'Waiting for your payment' },
  scan: {
    family: 'solana',
    title: 'Waiting for your payment',
    act: ({ page }) => page.locator('.qr-image').scrollIntoViewIfNeeded(),
  },
  transfer: {
    changes: { attribution: 'amount', amount: '24.900003', amountBaseUnits: '24900003' },
    title: 'Waiting for your payment',
    act: async ({ page }) => {
      await page.locator('.transfer .qr-image').waitFor();
      await page.evaluate("document.querySelector('.disclosure.open').scrollIntoView()");
    },
  },
  ready: { install: wallet, title: 'Ready to pay', act: choose },
  sponsored: { ...sponsored({}), title: 'Ready to pay', act: chooseViolet },
  'sponsor-refused': {
    ...sponsored({ isSponsoredAlive: true }),
    title: 'Waiting for your payment',
    act: async (opened) => {
      opened.standIn.refuse('submit', { status: 422, code: 'sponsor.refused' });
      await chooseViolet(opened);
      await opened.page.getByRole('button', { name: /^Pay 24\.90/ }).click();
      await opened.page.getByRole('alert').waitFor();
    },
  },
  ending: {
    ...sponsored({ isSponsoredAlive: true }),
    title: 'A moment before you pay the fee yourself',
    act: async (opened) => {
      opened.standIn.refuse('build', { status: 422, code: 'sponsor.refused' });
      await chooseViolet(opened);
      await opened.page.getByRole('button', { name: 'Pay the network fee myself' }).click();
    },
  },
  confirm: { install: asking, title: 'Confirm in Amber', act: pay },
  declined: {
    install: refusing,
    title: 'Ready to pay|Waiting for your payment',
    act: async (opened) => {
      await pay(opened);
      await opened.page.getByRole('alert').waitFor();
    },
  },
  stopped: {
    install: wallet,
    prepare: (standIn) => void (standIn.built = { amount: 249_000_000n }),
    title: 'Stopped for your safety',
    act: choose,
  },
  sent: { changes: { ...SENT, state: 'pending' }, title: 'Sent' },
  paid: { changes: PAID, search: '?return=https://shop.example/orders/1042', title: 'Paid' },
  again: { install: wallet, changes: { retryRequired: true }, title: 'Please sign again' },
  wrong: {
    install: wallet,
    prepare: (standIn) => standIn.become({}, 'intent.mismatched_payment', OTHER),
    title: 'Something else arrived',
  },
  twice: {
    changes: PAID,
    prepare: (standIn) => standIn.become({}, 'intent.extra_payment', { ...OTHER, amount: '24.90', differs: [] }),
    title: 'Paid twice',
  },
  failed: { changes: { ...SENT, state: 'failed' }, title: 'The payment failed' },
  expired: { changes: { state: 'expired' }, title: 'The time has run out' },
  late: { changes: { ...SENT, state: 'expired', pendingAtExpiry: true }, title: 'The time has run out, but' },
  cancelled: { changes: { state: 'cancelled' }, title: 'Cancelled' },
  unknown: {
    title: 'This link cannot be opened',
    act: async ({ page }) => {
      await page.evaluate('sessionStorage.clear()');
      await page.reload();
    },
  },
  offers: { ...link({}), title: 'How would you like to pay' },
  'offers-begun': {
    ...link({ intents: [{ offer: 1, intentId: 'pi_5mUj8xNgYq3vWJ2hTfKd7' }] }),
    title: 'How would you like to pay',
  },
  'link-paid': {
    ...link({
      state: 'paid',
      intents: [{ offer: 1, intentId: 'pi_5mUj8xNgYq3vWJ2hTfKd7' }],
      paidBy: 'pi_5mUj8xNgYq3vWJ2hTfKd7',
    }),
    search: '?return=https://shop.example/orders/1042',
    title: 'Paid',
  },
  'link-expired': { ...link({ state: 'expired' }), title: 'The time has run out' },
  arabic: { install: wallet, search: '?lang=ar', title: 'في انتظار دفعتك' },
};

const folder = path.join(import.meta.dirname, '../../../..', STATES_FOLDER);
await mkdir(folder, { recursive: true });
const browser = await openBrowser();
for (const [name, { act, title, family = 'base', changes, prepare, ...setting }] of Object.entries(SCENES)) {
  const opened = await open(browser, {
    ...setting,
    family,
    changes: { ...AMOUNT, ...changes },
    prepare: (standIn) => {
      standIn.built = BUILT;
      prepare?.(standIn);
    },
    viewport: SIZE,
  });
  const { page } = opened;
  await page.locator('.status, .offers').first().waitFor();
  await act?.(opened);
  await page
    .locator('.status strong, .ways h2')
    .filter({ hasText: new RegExp(`^(?:${title})`) })
    .waitFor();
  for (const colorScheme of COLORS) {
    await page.emulateMedia({ colorScheme });
    await shoot(page, path.join(folder, `${name}-${colorScheme}.webp`));
  }
  await opened.close();
}
await browser.close();
