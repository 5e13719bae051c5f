import { describe, expect, it } from '@jest/globals';
import jsqr from 'jsqr';
import { codesOf, transferCodesOf } from '../../src/pay/codes.ts';
import { qrPath } from '../../src/ui/qr-path.ts';
import { terms as base } from '../../../../../packages/chains/test/base/payments.ts';
import { termsIn } from '../../../../../packages/chains/test/solana/payments.ts';
import { terms as tempo } from '../../../../../packages/chains/test/tempo/payments.ts';
import { intentOf, shown } from '../check/intents.ts';

const place = {
  origin: 'https://pay.example',
  page: 'https://pay.example/pay/pi_5mUj8xNgYq3vWJ2hTfKd7#5Hj7mKQ2w9ZxVbN3cR8tYpLsDfGk4uXe',
  merchant: 'Nora & Söhne',
  solanaPayToken: 'pi_5mUj8xNgYq3vWJ2hTfKd7_spl_8sdf7Yhj3kLmN2pQ9rStUv',
};
const SCALE = 4;

/** What a camera reads of a drawn code. */
function scanned(content: string): string | undefined {
  const { size, path } = qrPath(content);
  const width = size * SCALE;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let row = 0; row < SCALE; row += 1)
      for (let column = 0; column < SCALE; column += 1) {
        const at = ((Number(y) * SCALE + row) * width + Number(x) * SCALE + column) * 4;
        pixels.fill(0, at, at + 3);
      }
  return jsqr(pixels, width, width)?.data;
}

describe('the codes of a payment', () => {
  it('begin on Solana with a transaction request without a query, which is small', () => {
    const terms = termsIn('USDC');
    const codes = codesOf(intentOf(terms), shown(terms), place);
    expect(codes.map(({ kind }) => kind)).toEqual(['solana_request', 'page']);
    expect(codes[0]?.content).toBe(`solana:https://pay.example/s/${place.solanaPayToken}`);
    expect(codesOf(intentOf(terms), shown(terms), { ...place, solanaPayToken: null }).map(({ kind }) => kind)).toEqual([
      'page',
    ]);
  });

  it("have a transfer request on Solana only where the requestor's token account is known to exist", () => {
    const terms = termsIn('USDC');
    const kinds = (changes: object): readonly string[] =>
      codesOf(intentOf(terms, changes), shown(terms), place).map(({ kind }) => kind);
    const fulfiller = terms.requestor;
    expect(kinds({ fulfiller })).toContain('solana_transfer');
    expect(kinds({ fulfiller, ataRentLamports: 2_039_280 })).not.toContain('solana_transfer');
    expect(kinds({ fulfiller, direction: 'send' })).not.toContain('solana_transfer');
    const transfer = codesOf(intentOf(terms, { fulfiller }), shown(terms), place).at(-1)?.content ?? '';
    const url = new URL(transfer);
    expect(url.pathname).toBe(terms.requestor);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      amount: '12.345678',
      'spl-token': terms.tokenAddress,
      reference: terms.reference,
      label: 'Nora & Söhne',
      message: 'pi_5mUj8xNgYq3vWJ2hTfKd7',
    });
  });

  it('have the memo of EIP-681 on Tempo, behind the page', () => {
    const codes = codesOf(intentOf(tempo), shown(tempo), place);
    expect(codes.map(({ kind }) => kind)).toEqual(['page', 'tempo']);
    expect(codes[1]?.content).toBe(
      `ethereum:${tempo.tokenAddress}@42431/transferWithMemo?address=${tempo.requestor}` +
        `&uint256=12345678&bytes32=${tempo.reference}`,
    );
  });

  it('are the page alone on Base', () => {
    expect(codesOf(intentOf(base), shown(base), place)).toEqual([{ kind: 'page', content: place.page }]);
  });

  it('are read back from what is drawn', () => {
    const terms = termsIn('USDC');
    const all = [
      ...codesOf(intentOf(terms, { fulfiller: terms.requestor }), shown(terms), place),
      ...codesOf(intentOf(tempo), shown(tempo), place),
    ];
    expect(all).toHaveLength(5);
    for (const { content } of all) expect(scanned(content)).toBe(content);
  });

  it('are of a plain transfer the address alone, where wallets read the rest in several ways', () => {
    for (const terms of [base, tempo]) {
      const codes = transferCodesOf(intentOf(terms), shown(terms));
      expect(codes).toEqual([{ kind: 'address', content: terms.requestor }]);
      expect(scanned(codes[0]?.content ?? '')).toBe(terms.requestor);
    }
  });

  it('are of a plain transfer on Solana its request, without a reference, and the address', () => {
    const terms = termsIn('USDC');
    const [transfer, address] = transferCodesOf(intentOf(terms), shown(terms));
    const url = new URL(scanned(transfer?.content ?? '') ?? '');
    expect([url.protocol, url.pathname]).toEqual(['solana:', terms.requestor]);
    expect(Object.fromEntries(url.searchParams)).toEqual({ amount: '12.345678', 'spl-token': terms.tokenAddress });
    expect(address).toEqual({ kind: 'address', content: terms.requestor });
  });

  it('have a quiet zone of four modules', () => {
    const { size, path } = qrPath('solana:https://pay.example');
    const places = [...path.matchAll(/M(\d+) (\d+)/g)].flatMap(([, x, y]) => [Number(x), Number(y)]);
    expect([Math.min(...places), Math.max(...places)]).toEqual([4, size - 5]);
  });
});
