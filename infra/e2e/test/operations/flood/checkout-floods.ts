import type { Flood } from './flooding.ts';
import { floodOf, type PaymentOperation, type Stranger } from './payments.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
export const WALLET = '7bNpZ1qKfQv6rJ8Yx3wHcT5eUoLsGdMa2RkVnXhWiJBy';

/** The worst that each route of the checkout takes. */
export function floodsOf(
  stranger: Stranger,
  solana: string,
  url: string,
  asset: string,
): Readonly<Record<string, Flood>> {
  const { intent, link, paymasterToken } = stranger;
  const get =
    (path: string): Flood =>
    () => ({ method: 'GET', path });
  const forwarded = (operation: PaymentOperation): Flood => floodOf(operation, stranger);
  return {
    'GET /pay/:id': get(`/pay/${intent.id}`),
    'GET /pay/:id/merchant': get(`/pay/${intent.id}/merchant`),
    'GET /link/:id': get(`/link/${link.id}`),
    'GET /link/:id/merchant': get(`/link/${link.id}/merchant`),
    'GET /logo/:id': get(`/logo/${intent.id}`),
    'GET /icon.svg': get('/icon.svg'),
    'GET /^\\/(?:assets\\/|pf-sound\\.js$)/': get(asset),
    'GET /plain': get('/plain'),
    'POST /plain': () => ({
      method: 'POST',
      path: '/plain',
      headers: FORM,
      body: `link=${encodeURIComponent(`${url}/pay/${intent.id}#${intent.clientSecret}`)}&of=${'x'.repeat(60_000)}`,
    }),
    'GET /plain.css': get('/plain.css'),
    'GET /s/:token': get(`/s/${solana}`),
    'POST /s/:token': () => ({ method: 'POST', path: `/s/${solana}`, body: { account: WALLET } }),
    'POST /p/:token': (n) => ({
      ...forwarded('askPaymaster')(n),
      path: `/p/${paymasterToken}`,
      headers: {},
    }),
    'OPTIONS /s/:token': () => ({ method: 'OPTIONS', path: `/s/${solana}` }),
    'OPTIONS /p/:token': () => ({ method: 'OPTIONS', path: `/p/${paymasterToken}` }),
    'GET /v1/intents/:id': forwarded('getIntent'),
    'GET /v1/intents/:id/events': forwarded('intentEvents'),
    'POST /v1/intents/:id/detected': forwarded('detectIntent'),
    'POST /v1/intents/:id/build': forwarded('buildIntent'),
    'POST /v1/intents/:id/submit': forwarded('submitIntent'),
    'GET /v1/payment-links/:id': forwarded('getPaymentLink'),
    'POST /v1/payment-links/:id/choose': forwarded('chooseOffer'),
  };
}
