import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Client, lamports, payment, startClient, wallet } from './client.ts';

let client: Client;
let originals: Buffer[];
beforeAll(async () => {
  client = await startClient();
  const [payer, other] = [await wallet(0), await wallet(1)];
  originals = await Promise.all(
    [await payment(payer, other.address, 'PYUSD', 1n), [lamports(payer, other.address, 1n)]].map(async (instructions) =>
      Buffer.from((await client.sign(payer, instructions)).wire, 'base64'),
    ),
  );
});
afterAll(() => client.stop());

/** A transaction with some bytes changed, cut off or doubled. */
const spoilt = fc
  .record({
    which: fc.nat(1),
    changes: fc.array(fc.record({ at: fc.nat(1_231), to: fc.nat(255) }), { minLength: 1, maxLength: 4 }),
    cut: fc.option(fc.nat(600)),
    more: fc.uint8Array({ maxLength: 40 }),
  })
  .map(({ which, changes, cut, more }) => {
    const bytes = Buffer.from(originals[which] ?? []);
    for (const { at, to } of changes) bytes[at % bytes.length] = to;
    return Buffer.concat([bytes.subarray(0, cut ?? bytes.length), more]);
  });

it('the node rejects a malformed transaction with an error and keeps running', async () => {
  await fc.assert(
    fc.asyncProperty(spoilt, async (bytes) => {
      const wire = bytes.toString('base64');
      for (const [method, config] of [
        ['sendTransaction', { preflightCommitment: 'processed' }],
        ['sendTransaction', { skipPreflight: true }],
        ['simulateTransaction', { commitment: 'processed' }],
      ] as const) {
        const { result, error } = await client.call(method, wire, { encoding: 'base64', ...config });
        if (result === undefined) expect([-32602, -32002, -32003]).toContain(error?.code);
      }
      const message = bytes.subarray(65).toString('base64');
      expect([undefined, -32602]).toContain((await client.call('getFeeForMessage', message)).error?.code);
    }),
    { numRuns: 150 },
  );
  expect((await client.call('getHealth')).result).toBe('ok');
}, 120_000);

it('the node rejects a truncated or overlong transaction before the native runtime', async () => {
  for (const whole of originals) {
    for (const bytes of [
      ...Array.from({ length: whole.length }, (_, length) => whole.subarray(0, length)),
      Buffer.concat([whole, Buffer.of(0)]),
    ]) {
      expect(
        (await client.call('simulateTransaction', bytes.toString('base64'), { encoding: 'base64' })).error,
      ).toMatchObject({ code: -32602 });
    }
  }
});

it('the node responds to a malformed request with a JSON-RPC error', async () => {
  const methods = [
    'getAccountInfo',
    'getSignatureStatuses',
    'getSignaturesForAddress',
    'getTransaction',
    'sendTransaction',
    'getProgramAccounts',
    'local_drop',
    'local_mint',
    'getRecentPrioritizationFees',
    '__proto__',
    'constructor',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...methods),
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 4 }),
      async (method, params) => {
        const { error } = await client.call(method, ...params);
        if (error !== undefined) expect([-32602, -32601, -32002, -32003]).toContain(error.code);
      },
    ),
    { numRuns: 300 },
  );
  await client.call('local_heal');
}, 120_000);
