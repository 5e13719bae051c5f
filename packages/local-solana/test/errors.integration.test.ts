import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Address,
  generateKeyPairSigner,
  isSolanaError,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
} from '@solana/kit';
import { type Client, lamports, newAddress, payment, startClient, wallet } from './client.ts';

describe('the local Solana, as a real node does,', () => {
  let client: Client;
  beforeAll(async () => {
    client = await startClient();
  });
  afterAll(() => client.stop());

  const codeOf = async (method: string, ...params: unknown[]): Promise<number | undefined> =>
    (await client.call(method, ...params)).error?.code;
  const post = async (body: string): Promise<unknown> => (await fetch(client.url, { method: 'POST', body })).json();

  it('rejects a transfer above the balance in preflight, with the error and its logs', async () => {
    const payer = await wallet(0);
    const signed = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 10n ** 15n));
    const { error } = await client.call('sendTransaction', signed.wire, {
      encoding: 'base64',
      preflightCommitment: 'processed',
    });
    expect(error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 2: custom program error: 0x1',
      data: {
        err: { InstructionError: [2, { Custom: 1 }] },
        logs: expect.arrayContaining([expect.stringContaining('insufficient funds')]),
      },
    });
    expect((await client.rpc.getSignatureStatuses([signed.signature]).send()).value).toEqual([null]);
  });

  it('rejects a payer without the fee, and a payer account that does not exist', async () => {
    const [poor, payer] = [await wallet(0), await wallet(1)];
    const pauper = await generateKeyPairSigner();
    const signed = await client.sign(pauper, [lamports(pauper, poor.address, 1n)]);
    expect((await client.call('sendTransaction', signed.wire, { encoding: 'base64' })).error).toMatchObject({
      code: -32002,
      data: { err: 'AccountNotFound' },
    });
    const tooMuch = await client.sign(payer, [lamports(payer, poor.address, 10n ** 15n)]);
    expect((await client.call('simulateTransaction', tooMuch.wire, { encoding: 'base64' })).result).toMatchObject({
      value: { err: { InstructionError: [0, { Custom: 1 }] }, unitsConsumed: 150 },
    });
  });

  it('rejects a repeated transaction as already processed, and after its blockhash expired as unknown', async () => {
    const payer = await wallet(0);
    const signed = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 1n));
    await client.send(signed);
    const again = async (): Promise<unknown> =>
      client
        .send(signed)
        .catch((error: unknown) =>
          isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)
            ? error.cause
            : error,
        );
    expect(isSolanaError(await again(), SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED)).toBe(true);
    expect(await client.send(signed, true)).toBe(signed.signature);
    await client.call('local_expire');
    expect(isSolanaError(await again(), SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND)).toBe(true);
  });

  it('accepts a blockhash for 150 blocks and no longer', async () => {
    const payer = await wallet(0);
    const { blockhash, lastValidBlockHeight } = (
      await client.rpc.getLatestBlockhash({ commitment: 'processed' }).send()
    ).value;
    const height = await client.rpc.getBlockHeight({ commitment: 'processed' }).send();
    expect(lastValidBlockHeight - height).toBe(150n);
    await client.call('local_advance', 150);
    const last = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 2n), { blockhash });
    const late = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 3n), { blockhash });
    expect(await client.rpc.isBlockhashValid(blockhash, { commitment: 'processed' }).send()).toMatchObject({
      value: true,
    });
    await client.send(last);
    await client.call('local_advance');
    expect(await client.rpc.isBlockhashValid(blockhash, { commitment: 'processed' }).send()).toMatchObject({
      value: false,
    });
    expect(
      (await client.call('sendTransaction', late.wire, { encoding: 'base64', preflightCommitment: 'processed' })).error,
    ).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Blockhash not found',
      data: { err: 'BlockhashNotFound' },
    });
    expect(await client.send(late, true)).toBe(late.signature);
    expect((await client.rpc.getSignatureStatuses([last.signature, late.signature]).send()).value).toMatchObject([
      { err: null },
      null,
    ]);
  });

  it('rejects a blockhash younger than the bank of the preflight', async () => {
    const payer = await wallet(0);
    await client.call('local_advance');
    const { blockhash } = (await client.rpc.getLatestBlockhash({ commitment: 'processed' }).send()).value;
    const signed = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 4n), { blockhash });
    expect(
      (await client.call('sendTransaction', signed.wire, { encoding: 'base64', preflightCommitment: 'finalized' }))
        .error,
    ).toMatchObject({ data: { err: 'BlockhashNotFound' } });
  });

  it('rejects a signature that is not the payer’s', async () => {
    const payer = await wallet(0);
    const { wire } = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 5n));
    const bytes = Buffer.from(wire, 'base64');
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    const forged = bytes.toString('base64');
    expect((await client.call('sendTransaction', forged, { encoding: 'base64' })).error).toMatchObject({
      code: -32003,
      message: 'Transaction signature verification failure',
    });
    expect(await codeOf('simulateTransaction', forged, { encoding: 'base64', sigVerify: true })).toBe(-32003);
    expect(
      await client.call('simulateTransaction', forged, { encoding: 'base64', commitment: 'processed' }),
    ).toMatchObject({ result: { value: { err: null } } });
    expect(
      await client.call('simulateTransaction', forged, {
        encoding: 'base64',
        replaceRecentBlockhash: true,
        commitment: 'processed',
      }),
    ).toMatchObject({
      result: { value: { err: null, replacementBlockhash: { lastValidBlockHeight: expect.any(Number) } } },
    });
  });

  it.each([
    ['sendTransaction', 'of three zero bytes', ['AAAA', { encoding: 'base64' }]],
    ['sendTransaction', 'that is not base64', ['!!!!', { encoding: 'base64' }]],
    ['sendTransaction', 'that is not base58', ['0OIl']],
    ['sendTransaction', 'of more than 1,232 bytes', [Buffer.alloc(1_233).toString('base64'), { encoding: 'base64' }]],
    ['getBalance', 'of an address of 35 bytes', ['11111111111111111111111111111111111']],
    ['getBalance', 'without an account', []],
    ['getAccountInfo', 'at an unknown commitment', ['11111111111111111111111111111111', { commitment: 'sometime' }]],
    ['getSignatureStatuses', 'of 257 signatures', [Array.from({ length: 257 }, () => '1'.repeat(64))]],
    ['getSignaturesForAddress', 'with a limit above 1,000', ['11111111111111111111111111111111', { limit: 1_001 }]],
    ['getTransaction', 'below confirmed', ['1'.repeat(64), { commitment: 'processed' }]],
    ['getTokenAccountBalance', 'of an account that is no token account', ['11111111111111111111111111111111']],
    ['getMultipleAccounts', 'of 101 accounts', [Array.from({ length: 101 }, () => '11111111111111111111111111111111')]],
    ['local_reorg', 'below the final slot', [1_000_000]],
  ])('rejects %s %s', async (method, _what, params) => {
    expect(await codeOf(method, ...params)).toBe(-32602);
  });

  it('rejects invalid JSON-RPC and unknown methods, and each entry of a batch on its own', async () => {
    expect(await post('{')).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await post('{"jsonrpc":"2.0","id":1}')).toMatchObject({ error: { code: -32600 } });
    expect(await post('[]')).toMatchObject({ error: { code: -32600 } });
    expect(await codeOf('toString')).toBe(-32601);
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'getHealth' },
      { jsonrpc: '2.0', id: 'b', method: 'getNothing' },
      { jsonrpc: '2.0', method: 'getHealth' },
    ];
    expect(await post(JSON.stringify(batch))).toMatchObject([
      { id: 'a', result: 'ok' },
      { id: 'b', error: { code: -32601 } },
    ]);
    expect((await fetch(client.url)).status).toBe(405);
    expect((await fetch(client.url, { method: 'POST', body: 'x'.repeat(2_000_000) })).status).toBe(413);
  });

  it('rejects a transaction version that the client does not support, and a future slot', async () => {
    const payer = await wallet(0);
    const signed = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 6n));
    await client.send(signed);
    await client.call('local_advance');
    expect(await codeOf('getTransaction', signed.signature, { commitment: 'confirmed' })).toBe(-32015);
    const { error } = await client.call('getBalance', payer.address, {
      commitment: 'processed',
      minContextSlot: 999_999_999,
    });
    expect(error).toMatchObject({ code: -32016, data: { contextSlot: expect.any(Number) } });
    expect(await codeOf('getBlock', 999_999_999)).toBe(-32004);
  });

  it('rejects every send while it is behind', async () => {
    const payer = await wallet(0);
    const { wire } = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 7n));
    await client.call('local_behind', 42);
    expect((await client.call('getHealth')).error).toEqual({
      code: -32005,
      message: 'Node is behind by 42 slots',
      data: { numSlotsBehind: 42 },
    });
    expect(await codeOf('sendTransaction', wire, { encoding: 'base64' })).toBe(-32005);
    await client.call('local_heal');
    expect((await client.call('getHealth')).result).toBe('ok');
  });

  it('keeps every digit of numbers beyond double precision', async () => {
    const text = await (
      await fetch(client.url, {
        method: 'POST',
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'getAccountInfo',
          params: ['11111111111111111111111111111111' as Address],
        }),
      })
    ).text();
    expect(text).toContain('"rentEpoch":18446744073709551615');
  });
});
