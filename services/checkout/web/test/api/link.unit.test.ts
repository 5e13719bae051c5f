import { describe, expect, it } from '@jest/globals';
import { allowedReturn, chosenLink, readLink, readOffersLink, wholeLink } from '../../src/api/link.ts';

const SECRET = '5Hj7mKQ2w9ZxVbN3cR8tYpLsDfGk4uXe';
const page = (rest: string): URL => new URL(`https://pay.example/pay/pi_5mUj8xNgYq3vWJ2hTfKd7${rest}`);
const storage = () => {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
};

describe('the link of a payment', () => {
  it('gives its secret once, and the tab keeps it', () => {
    const tab = storage();
    const clientSecret = `pi_5mUj8xNgYq3vWJ2hTfKd7_secret_${SECRET}`;
    expect(readLink(page(`#${SECRET}`), tab)).toMatchObject({ intentId: 'pi_5mUj8xNgYq3vWJ2hTfKd7', clientSecret });
    expect(readLink(page(''), tab)).toMatchObject({ clientSecret });
    expect(readLink(page(''), storage())).toMatchObject({ clientSecret: null });
  });

  it('is whole again for another device', () => {
    const link = readLink(page(`?return=https://shop.example/#${SECRET}`), storage());
    if (link === null) throw new Error('the link was not read');
    expect(wholeLink(page('?return=https://shop.example/'), link)).toBe(
      `https://pay.example/pay/pi_5mUj8xNgYq3vWJ2hTfKd7?return=https://shop.example/#${SECRET}`,
    );
  });

  it.each(['/pay/', '/pay/evt_1', '/pay/pi_0', '/pay/pi_1/x', '/'])('is absent at %s', (path) => {
    expect(readLink(new URL(`https://pay.example${path}#${SECRET}`), storage())).toBeNull();
  });

  it.each(['#short', '#<script>', `#${'a'.repeat(121)}`])('has no secret in %s', (fragment) => {
    expect(readLink(page(fragment), storage())?.clientSecret).toBeNull();
  });
});

describe('the link of several offers', () => {
  const ID = 'pl_5mUj8xNgYq3vWJ2hTfKd7';
  const at = (rest: string): URL => new URL(`https://pay.example/link/${ID}${rest}`);

  it('gives its secret once, and is no payment', () => {
    const tab = storage();
    const clientSecret = `${ID}_secret_${SECRET}`;
    expect(readOffersLink(at(`#${SECRET}`), tab)).toMatchObject({ linkId: ID, clientSecret });
    expect(readOffersLink(at(''), tab)).toMatchObject({ clientSecret });
    expect(readLink(at(`#${SECRET}`), tab)).toBeNull();
    expect(readOffersLink(page(`#${SECRET}`), tab)).toBeNull();
  });

  it('leads to what was chosen with all that was asked for, and back', () => {
    const tab = storage();
    const url = at(`?lang=de&return=https%3A%2F%2Fshop.example%2F#${SECRET}`);
    const link = readOffersLink(url, tab);
    if (link === null) throw new Error('the link was not read');
    const chosen = chosenLink(url, link, `pi_5mUj8xNgYq3vWJ2hTfKd7_secret_${SECRET}`);
    expect(chosen).toBe(
      `/pay/pi_5mUj8xNgYq3vWJ2hTfKd7?lang=de&return=https%3A%2F%2Fshop.example%2F&link=${ID}#${SECRET}`,
    );
    const payment = new URL(chosen, url);
    expect(readLink(payment, tab)?.offersUrl).toBe(`/link/${ID}?lang=de&return=https%3A%2F%2Fshop.example%2F`);
    // On another device nothing is known of the link.
    expect(readLink(payment, storage())?.offersUrl).toBeNull();
    expect(readLink(page(`?link=//evil.example#${SECRET}`), tab)?.offersUrl).toBeNull();
  });
});

describe('the way back to the shop', () => {
  it('leads to registered origins only', () => {
    const origins = ['https://shop.example', 'http://localhost:3000'];
    expect(allowedReturn('https://shop.example/orders/7?ok=1', origins)).toBe('https://shop.example/orders/7?ok=1');
    expect(allowedReturn('http://localhost:3000/', origins)).toBe('http://localhost:3000/');
    for (const url of [
      null,
      'https://shop.example.evil.example/',
      'https://evil.example/https://shop.example',
      'https://shop.example@evil.example/',
      'https://user:pass@shop.example/',
      'http://shop.example/',
      'javascript:alert(1)//https://shop.example',
      'shop.example',
    ])
      expect(allowedReturn(url, origins)).toBeNull();
  });
});
