import { newIntentId } from '@pf/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  gatewayDouble,
  type GatewayDouble,
  type Instance,
  json,
  refusalOf,
  startCluster,
} from '@pf/testing';
import { linkInCode } from '@pf/testing/wallets';
import { addIntent, addLink, openShop } from './shops.ts';

const URL_OF_CHECKOUT = 'https://pay.example';
const CODE = '3mJr7AoUXx2Wqd1mKJr7AoUXx2Wqd1mKJr7AoUXx2Wq';
const REQUESTOR = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
/** Texts that would run a script where a page took them for markup, a URL or a template. */
const CORPUS = [
  '<script>window.injected = 1</script>',
  '<img src=x onerror="window.injected = 1">',
  '"><svg onload="window.injected = 1">',
  "' autofocus onfocus='window.injected = 1",
  '</title><script>window.injected = 1</script>',
];
/** What is answered as it is, with a page that says to try again. */
const LATER = [
  [503, 'service.unavailable'],
  [429, 'rate_limit.exceeded'],
] as const;
const intentOf = (id: string) => ({
  id,
  amount: '12.50',
  chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  expiresAt: '2026-11-22T23:00:00.000Z',
  requestor: REQUESTOR,
  retryRequired: false,
  state: 'created',
  token: 'USDC',
});

describe('the page without scripts', () => {
  let cluster: Cluster;
  let gateway: GatewayDouble;
  let checkout: Instance;
  let intentId: string;
  let link: string;
  const show = (text: string): Promise<Response> =>
    fetch(`${checkout.url}/plain`, { method: 'POST', body: new URLSearchParams({ link: text }) });

  beforeAll(async () => {
    [cluster, gateway] = await Promise.all([startCluster(), gatewayDouble()]);
    checkout = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url, CHECKOUT_URL: URL_OF_CHECKOUT } });
    ({ intentId } = await openShop(cluster.database, 'Shop & Söhne'));
    link = `${URL_OF_CHECKOUT}/pay/${intentId}?lang=en#${CODE}`;
  });
  afterAll(async () => {
    await cluster.close();
    await gateway.close();
  });

  it('refuses a form that is longer than one with two links', async () => {
    const ask = async (bytes: number) =>
      (await fetch(`${checkout.url}/plain`, { method: 'POST', body: '&'.repeat(bytes) })).status;
    expect([await ask(8 * 1024), await ask(8 * 1024 + 1)]).toEqual([400, 413]);
  });

  it('asks for the link, and lets no script run', async () => {
    const response = await fetch(`${checkout.url}/plain`);
    expect(await response.text()).toContain('<form method="post" action="/plain">');
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const directive of ["script-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(directive);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('strict-transport-security')).toBe('max-age=63072000');
  });

  it('shows amount, network and the whole address, with a code for wallets', async () => {
    const token = `${intentId}_spl_2222222222222222`;
    gateway.answerWith(json(200, { intent: intentOf(intentId), solanaPayToken: token }));
    const response = await show(link);
    const page = await response.text();
    expect(response.status).toBe(200);
    for (const text of [
      'Shop &#38; Söhne',
      '12.50 USDC',
      'Solana devnet',
      '7xKX tg2C W87d 97TX JSDp bD5j Bkhe',
      'Waiting for the payment.',
      'data:image/svg+xml;base64,',
    ])
      expect(page).toContain(text);
    const code = /href="(solana:[^"]+)"/.exec(page)?.[1] ?? '';
    expect(linkInCode(code).href).toBe(`${URL_OF_CHECKOUT}/s/${token}`);
    expect(gateway.received[0]?.request.headers.authorization).toBe(`Bearer ${intentId}_secret_${CODE}`);
  });

  it('says what has arrived where more than the amount may pay it', async () => {
    const shown = async (changes: object): Promise<string> => {
      gateway.answerWith(json(200, { intent: { ...intentOf(intentId), amount: '12.50', token: 'USDC', ...changes } }));
      return (await show(link)).text();
    };
    const page = await shown({ state: 'confirmed', accept: 'at_least', amountReceived: '13' });
    expect(page).toContain('12.50 USDC');
    expect(page).toContain('Received: 13 USDC');
    expect(await shown({ state: 'confirmed' })).not.toContain('Received');
  });

  describe('of an intent that a plain transfer pays', () => {
    const WALLET = '0x7f9E1f4CE9bF0B2E4C1C1C3c0B1D4bD3bA9bB0a1';
    const byAmount = { amount: '12.500003', attribution: 'amount', chain: 'eip155:84532', requestor: WALLET };
    const shown = async (changes: object): Promise<string> => {
      gateway.answerWith(json(200, { intent: { ...intentOf(intentId), ...byAmount, ...changes } }));
      return (await (await show(link)).text()).replaceAll(/\s+/g, ' ');
    };

    it('says what to send, on which network, and that another amount does not count', async () => {
      const page = await shown({});
      for (const text of [
        'From an exchange or any wallet',
        '<strong>Base Sepolia, not Ethereum</strong>',
        'Token: USDC',
        '<code>12.500003</code>',
        `<code class="address">${WALLET}</code>`,
        'alt="Code of the address alone"',
        'Exactly 12.500003 USDC must arrive.',
        'Another amount does not count for this payment.',
      ])
        expect(page).toContain(text);
      expect(page).not.toContain('Do not send money to it by hand');
      const { chain } = intentOf(intentId);
      expect(await shown({ chain })).toContain('<strong>Solana devnet</strong>');
    });

    it('says after the time is over that what was sent still counts', async () => {
      for (const state of ['expired', 'cancelled']) {
        const page = await shown({ state });
        expect(page).toContain('it still counts when it arrives. Do not send it again');
        expect(page).not.toContain('From an exchange');
      }
      expect(await shown({ state: 'confirmed' })).not.toContain('still counts');
    });
  });

  it('shows no way to pay what cannot be paid any more', async () => {
    for (const state of ['pending', 'confirmed', 'finalized', 'expired', 'cancelled', 'failed']) {
      const token = `${intentId}_spl_2222222222222222`;
      gateway.answerWith(json(200, { intent: { ...intentOf(intentId), state }, solanaPayToken: token }));
      const page = await (await show(link)).text();
      expect([state, page.includes('How to pay'), page.includes('not known here')]).toEqual([state, false, false]);
    }
  });

  it('executes no script in a merchant’s name', async () => {
    for (const name of CORPUS) {
      const shop = await openShop(cluster.database, name);
      gateway.answerWith(json(200, { intent: { ...intentOf(shop.intentId), token: name }, solanaPayToken: null }));
      const page = await (await show(`${shop.intentId}_secret_${CODE}`)).text();
      expect(page).not.toMatch(/<script|<img|<svg|onload="|onfocus='|onerror="/);
      expect(page).toContain('window.injected &#61; 1');
    }
  });

  describe('of a payment link', () => {
    const OFFERS = [
      { chain: 'eip155:84532', token: 'USDC' },
      { chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', token: 'USDC' },
    ];
    const linkOf = (state: string) => ({
      paymentLink: { amount: '12.50', expiresAt: '2026-11-22T23:00:00.000Z', offers: OFFERS, state },
    });
    let chosenId: string;
    let secret: string;
    let page: string;
    const post = (fields: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${checkout.url}/plain`, { method: 'POST', body: new URLSearchParams(fields) });
    /** The hidden fields of the form with this button. */
    const fieldsOf = (text: string, button: string): Readonly<Record<string, string>> => {
      const found = text.split('<form ').find((part) => part.includes(`<button>${button}</button>`)) ?? '';
      return Object.fromEntries(
        [...found.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
      );
    };

    beforeAll(async () => {
      const { accountId } = await openShop(cluster.database, 'Link Shop');
      const linkId = await addLink(cluster.database, accountId);
      chosenId = await addIntent(cluster.database, accountId);
      secret = `${linkId}_secret_${CODE}`;
      page = `${URL_OF_CHECKOUT}/link/${linkId}?lang=en#${CODE}`;
    });

    it('offers what can be paid without scripts, and says how to pay the rest', async () => {
      gateway.answerWith(json(200, linkOf('open')));
      const response = await show(page);
      const text = await response.text();
      expect([response.status, gateway.received[0]?.request.headers.authorization]).toEqual([200, `Bearer ${secret}`]);
      for (const part of ['Link Shop', 'Waiting for the payment.', '<li>12.50 USDC on Base Sepolia</li>'])
        expect(text).toContain(part);
      expect(fieldsOf(text, '12.50 USDC on Solana devnet')).toEqual({ link: secret, offer: '1' });
      expect(fieldsOf(text, '12.50 USDC on Base Sepolia')).toEqual({});
      expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
    });

    it('leads from a chosen offer to its intent, and back to the choice', async () => {
      const token = `${chosenId}_spl_2222222222222222`;
      const clientSecret = `${chosenId}_secret_${CODE}`;
      gateway.answerWith((request, response) => {
        const isChoice = request.url?.endsWith('/choose') === true;
        const body = isChoice
          ? { intent: {}, clientSecret, paymentUrl: null }
          : { intent: intentOf(chosenId), solanaPayToken: token };
        json(200, body)(request, response);
      });
      const text = await (await post({ link: secret, offer: '1' })).text();
      const [choice, fetched] = gateway.received;
      expect([choice?.request.method, choice?.request.headers.authorization, choice?.body]).toEqual([
        'POST',
        `Bearer ${secret}`,
        '{"offer":1}',
      ]);
      expect(fetched?.request.headers.authorization).toBe(`Bearer ${clientSecret}`);
      const code = /href="(solana:[^"]+)"/.exec(text)?.[1] ?? '';
      expect(linkInCode(code).href).toBe(`${URL_OF_CHECKOUT}/s/${token}`);
      expect(fieldsOf(text, 'Choose another way to pay')).toEqual({ link: secret });
      const lookAgain = fieldsOf(text, 'Look again');
      expect(lookAgain).toEqual({ link: clientSecret, of: secret });
      expect(fieldsOf(await (await post(lookAgain)).text(), 'Choose another way to pay')).toEqual({ link: secret });
    });

    it('shows the link as it is now where an offer cannot be chosen any more', async () => {
      for (const [status, code, state] of [
        [409, 'payment_link.invalid_state', 'paid'],
        [422, 'address.sanctions_match', 'open'],
      ] as const) {
        gateway.answerWith((request, response) => {
          const isChoice = request.method === 'POST';
          json(isChoice ? status : 200, isChoice ? refusalOf(code) : linkOf(state))(request, response);
        });
        const response = await post({ link: secret, offer: '1' });
        const text = await response.text();
        expect([response.status, text.includes('not available now')]).toEqual([409, true]);
        expect(text.includes('How to pay')).toBe(state === 'open');
      }
      for (const [status, code] of LATER) {
        gateway.answerWith(json(status, refusalOf(code)));
        expect((await post({ link: secret, offer: '1' })).status).toBe(status);
      }
    });

    it('has no way to pay once it has ended', async () => {
      for (const state of ['paid', 'expired', 'cancelled']) {
        gateway.answerWith(json(200, linkOf(state)));
        const text = await (await show(page)).text();
        expect([state, text.includes('How to pay'), text.includes('not known here')]).toEqual([state, false, false]);
      }
    });
  });

  it('refuses an invalid link without asking the gateway', async () => {
    gateway.answerWith(json(200, {}));
    for (const text of [
      '',
      'nonsense',
      CORPUS[0] ?? '',
      `https://evil.example/pay/${intentId}#${CODE}`,
      `${URL_OF_CHECKOUT}/pay/${intentId}`,
      `${URL_OF_CHECKOUT}/pay/${intentId}/../x#${CODE}`,
      `javascript:alert(1)//${URL_OF_CHECKOUT}/pay/${intentId}#${CODE}`,
      'x'.repeat(3_000),
    ]) {
      const response = await show(text);
      const page = await response.text();
      expect([text.slice(0, 80), response.status, page.includes('Copy the whole link')]).toEqual([
        text.slice(0, 80),
        400,
        true,
      ]);
      expect(page).not.toContain('<script');
    }
    expect(gateway.received).toEqual([]);
  });

  it('says when there is no such payment, and when it cannot be shown', async () => {
    gateway.answerWith(json(401, refusalOf('api_key.invalid')));
    expect((await show(link)).status).toBe(404);
    gateway.answerWith(json(200, { intent: intentOf(intentId), solanaPayToken: null }));
    expect((await show(`${newIntentId(0)}_secret_${CODE}`)).status).toBe(404);
    for (const [status, code] of LATER) {
      gateway.answerWith(json(status, refusalOf(code)));
      expect((await show(link)).status).toBe(status);
    }
    gateway.answerWith((request) => request.socket.destroy());
    const response = await show(link);
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('Try again')]);
  });
});
