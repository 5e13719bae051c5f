import { describe, expect, it } from '@jest/globals';
import type { Sponsor } from '@pf/database';
import type { AccountId, ChainId } from '@pf/domain';
import type { SendResult } from '@pf/egress';
import { createLogger } from '@pf/runtime';
import { z } from 'zod';
import type { Holder } from '../../src/api-keys.ts';
import { type Asking, SponsorCalls } from '../../src/sponsors/sponsor-calls.ts';

const CHAIN = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId;
const sponsor: Sponsor = {
  chain: CHAIN,
  url: 'https://kora.example/rpc',
  headers: { 'x-api-key': 'secret', 'Content-Type': 'text/plain' },
  context: {},
  updatedAt: new Date(0),
};
const holder = {
  accountId: 'acct_1' as AccountId,
  livemode: true,
  scope: 'full',
  keyId: 'key_1',
  plan: 'free',
  expiresAt: null,
} as const satisfies Holder;
const asking: Asking = { sponsor, holder, network: { name: 'solana-devnet' } };
const call = { method: 'getPayerSigner', result: z.object({ signer_address: z.string() }) };
const response = (status: number, body: unknown, retryAfter: string | null = null): SendResult => ({
  kind: 'response',
  status,
  bodyStart: typeof body === 'string' ? body : JSON.stringify(body),
  retryAfter,
});
const callsTo = (send: () => Promise<SendResult>) =>
  new SponsorCalls({ sender: { send }, log: createLogger('test', 'silent') });
const answered = (result: SendResult, by: Asking = asking) =>
  callsTo(async () => result).ask(by, call, ({ signer_address: address }) => address);

describe('a request to a sponsor', () => {
  it('returns the result that its schema accepts', async () => {
    expect(await answered(response(200, { jsonrpc: '2.0', id: 1, result: { signer_address: 'abc' } }))).toBe('abc');
  });

  it('is JSON-RPC, with the headers of the account', async () => {
    const sent: unknown[] = [];
    const calls = new SponsorCalls({
      sender: {
        send: async (url, headers, body) => {
          sent.push(url, headers, JSON.parse(body.toString()));
          return response(200, { id: 1, result: { signer_address: 'abc' } });
        },
      },
      log: createLogger('test', 'silent'),
    });
    await calls.ask(asking, { ...call, params: { transaction: 'AA==' } }, () => null);
    expect(sent).toEqual([
      'https://kora.example/rpc',
      expect.objectContaining({ 'x-api-key': 'secret', 'content-type': 'application/json' }),
      { jsonrpc: '2.0', id: 1, method: 'getPayerSigner', params: { transaction: 'AA==' } },
    ]);
  });

  it.each([
    ['an error', 200, { id: 1, error: { code: -32000, message: 'not today' } }, 'it refused getPayerSigner: not today'],
    ['a refused key', 401, { id: 1, error: { message: '' } }, 'it refused getPayerSigner'],
    ['no JSON', 200, '<html>', 'it responded 200, without a valid result of getPayerSigner'],
    ['another id', 200, { id: 2, result: { signer_address: 'x' } }, expect.stringContaining('without a valid result')],
    ['another result', 200, { id: 1, result: { signer: 'x' } }, expect.stringContaining('without a valid result')],
    ['a redirect', 302, '', 'it responded 302, without a valid result of getPayerSigner'],
  ])('is refused by %s', async (_what, status, body, reason) => {
    await expect(answered(response(status, body))).rejects.toMatchObject({
      code: 'sponsor.refused',
      details: { chain: CHAIN, reason },
    });
  });

  it.each([
    ['a failure', response(500, { id: 1, error: { message: 'x' } }), 2, 'it responded 500'],
    ['a rate limit', response(429, '', '7'), 7, 'it responded 429'],
    ['a rate limit of a day', response(429, '', '86400'), 60, 'it responded 429'],
    ['a date', response(503, '', 'Fri, 27 Nov 2026 00:00:00 GMT'), 2, 'it responded 503'],
    ['no response', { kind: 'failed', reason: 'No response within 5 s.' } as const, 2, 'no response within 5 s'],
    ['a fault of ours', { kind: 'not_sent', message: 'EMFILE' } as const, 2, 'it could not be asked'],
  ])('should be retried after %s', async (_what, result, retryAfter, reason) => {
    await expect(answered(result)).rejects.toMatchObject({
      code: 'sponsor.unavailable',
      details: { chain: CHAIN, reason, retry_after: retryAfter },
    });
  });

  it('does not show payers what the sponsor said, nor control characters to anyone', async () => {
    const refusal = response(200, { id: 1, error: { message: `key\u0000 \r\n"abc" is spent${'.'.repeat(300)}` } });
    for (const scope of ['payer', 'client_secret'] as const)
      await expect(answered(refusal, { ...asking, holder: { ...holder, scope } })).rejects.toMatchObject({
        details: { reason: 'it refused getPayerSigner' },
      });
    await expect(answered(refusal)).rejects.toMatchObject({
      details: { reason: expect.stringMatching(/^it refused getPayerSigner: key[ ]+"abc" is spent\.{1,200}$/) },
    });
  });

  it('is refused at once, and names the sponsor, where as many of the account wait as may', async () => {
    const calls = callsTo(() => new Promise(() => undefined));
    for (let waiting = 0; waiting < 32; waiting += 1) void calls.ask(asking, call, () => null).catch(() => undefined);
    await Promise.resolve();
    const began = performance.now();
    await expect(calls.ask(asking, call, () => null)).rejects.toMatchObject({
      code: 'sponsor.unavailable',
      message: expect.stringContaining(`The sponsor of ${CHAIN} is busy`) as unknown,
      details: { chain: CHAIN, reason: 'it has too many requests of this account under way' },
    });
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('takes no place of another account while its sponsor hangs', async () => {
    const hanging: (() => void)[] = [];
    const calls = callsTo(
      () => new Promise((resolve) => hanging.push(() => resolve(response(200, { id: 1, result: {} })))),
    );
    const asked = Array.from({ length: 100 }, () => calls.ask(asking, call, () => null).catch(() => 'refused'));
    await Promise.resolve();
    expect(hanging).toHaveLength(16);
    const others = calls.ask({ ...asking, holder: { ...holder, accountId: 'acct_2' as AccountId } }, call, () => null);
    await Promise.resolve();
    expect(hanging).toHaveLength(17);
    // Those that have waited, at last, get a place.
    const drain = setInterval(() => hanging.splice(0).forEach((end) => end()), 1);
    await expect(others).rejects.toMatchObject({ code: 'sponsor.refused' });
    await Promise.all(asked);
    clearInterval(drain);
  });

  it('takes few of the places of test mode for one account, however many of its requests wait', async () => {
    let sent = 0;
    const calls = callsTo(() => {
      sent += 1;
      return new Promise(() => undefined);
    });
    const ofTest = (accountId: string): Asking => ({
      ...asking,
      holder: { ...holder, livemode: false, accountId: accountId as AccountId },
    });
    const ask = (accountId: string) => void calls.ask(ofTest(accountId), call, () => null).catch(() => undefined);
    for (let number = 0; number < 100; number += 1) ask('acct_1');
    for (let number = 0; number < 100; number += 1) ask('acct_2');
    await new Promise(setImmediate);
    expect(sent).toBe(8);
    ask('acct_3');
    await new Promise(setImmediate);
    expect(sent).toBe(9);
  });

  it('keeps no account of test mode from its first request while the sponsors of others hang', async () => {
    const hanging: (() => void)[] = [];
    const calls = callsTo(
      () => new Promise((resolve) => hanging.push(() => resolve(response(200, { id: 1, result: {} })))),
    );
    const ask = (accountId: string): Promise<unknown> => {
      const by = { ...holder, livemode: false, accountId: accountId as AccountId };
      return calls
        .ask({ ...asking, holder: by }, call, () => null)
        .catch(({ code }: { readonly code: string }) => code);
    };
    // As many as have all places that there are beside the first of each account.
    const asked = Array.from({ length: 12 * 4 }, (_, n) => ask(`acct_${n % 12}`));
    await new Promise(setImmediate);
    const before = hanging.length;
    expect(before).toBe(12 + 32);
    const other = ask('another');
    await new Promise(setImmediate);
    expect(hanging).toHaveLength(before + 1);
    hanging.at(-1)?.();
    expect(await other).toBe('sponsor.refused');
    // What waited gets a place, and the first of an account is free again once it has ended.
    const drain = setInterval(() => hanging.splice(0).forEach((end) => end()), 1);
    expect(new Set(await Promise.all([...asked, ask('acct_1')]))).toEqual(new Set(['sponsor.refused']));
    clearInterval(drain);
  });
});
