import type { Browser, Locator, Page } from 'playwright-core';
import { PHONE, visit } from '../../../../../infra/e2e/test/dashboard/browser.ts';
import type { Intent } from '../../src/api/schemas.ts';
import { payer as solanaPayer, signedBy } from '../../../../../packages/chains/test/solana/payments.ts';
import { type Change, guard } from '../../../../../packages/chains/test/solana/changes.ts';
import { type Family, StandIn } from './stand-in.ts';
import { type Answer, installEvm, installSolana } from './wallets.ts';

export interface Opened {
  readonly standIn: StandIn;
  readonly page: Page;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export interface Setting {
  readonly family: Family;
  readonly changes?: Partial<Intent>;
  readonly install?: (page: Page) => Promise<void>;
  readonly prepare?: (standIn: StandIn) => void;
  readonly kind?: 'intent' | 'link';
  readonly search?: string;
  readonly viewport?: typeof PHONE;
}

/** The page of a payment, or of a payment link, in a browser of its own. */
export async function open(browser: Browser, setting: Setting): Promise<Opened> {
  const { family, changes = {}, install, prepare, kind, search = '', viewport = PHONE } = setting;
  const standIn = await StandIn.start(family, changes);
  prepare?.(standIn);
  const { context, page, complaints } = await visit(browser, { viewport });
  await install?.(page);
  await page.goto(kind === 'link' ? standIn.offersLink(search) : standIn.link(search));
  return {
    standIn,
    page,
    complaints,
    close: async () => {
      await context.close();
      await standIn.close();
    },
  };
}

/** The line that says how the payment stands. */
export const status = (page: Page, title: string | RegExp): Locator =>
  page.locator('.status strong').filter({ hasText: typeof title === 'string' ? new RegExp(`^${title}`) : title });

export const ACCOUNT = '0x1111111111111111111111111111111111111111';
export const HASH = `0x${'cd'.repeat(32)}`;
const CHAIN_IDS = { base: '0x14a34', tempo: '0xa5bf' } as const;

/** A wallet of an EVM chain and what it was asked. What a test does not answer itself is answered as wallets do. */
export class EvmWallet {
  readonly asked: { readonly method: string; readonly params: unknown }[] = [];
  chainId: string;
  accounts = [ACCOUNT];
  readonly #answers: Readonly<Record<string, (params: unknown) => unknown>>;

  constructor(family: keyof typeof CHAIN_IDS, answers: Readonly<Record<string, (params: unknown) => unknown>> = {}) {
    this.chainId = CHAIN_IDS[family];
    this.#answers = answers;
  }

  readonly answer: Answer = (method, params) => {
    this.asked.push({ method, params });
    const own = this.#answers[method];
    if (own !== undefined) return own(params);
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return this.accounts;
      case 'eth_chainId':
        return this.chainId;
      case 'eth_sendTransaction':
        return HASH;
      default:
        throw Object.assign(new Error(`${method} is not supported`), { code: 4200 });
    }
  };

  readonly install = (page: Page): Promise<void> => installEvm(page, this.answer);
  /** The parameters of each request of a kind. */
  of(method: string): readonly unknown[] {
    return this.asked.filter((one) => one.method === method).map(({ params }) => params);
  }
}

/** A wallet on Solana that signs with a real key: as it is, or with guards of its own. */
export const solanaWallet =
  (feature: 'signTransaction' | 'signAndSendTransaction', { addsGuards = false } = {}) =>
  (page: Page): Promise<void> =>
    installSolana(
      page,
      (method, params) => {
        if (method === 'connect') return [solanaPayer.publicKey.toBase58()];
        const change: Change | null = addsGuards ? withGuards : null;
        const signed = signedBy(Buffer.from(String(params), 'base64'), change);
        return Buffer.from(method === 'sign' ? signed : signed.slice(1, 65)).toString('base64');
      },
      feature,
    );

const withGuards: Change = (instructions, by) => [...instructions, guard(by), guard(by, 9)];
