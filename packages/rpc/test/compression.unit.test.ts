import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { boundedTo, rpcCall, type RpcPool, RpcUnavailableError } from '../src/index.ts';
import { type Provider, result, served, startProvider } from './provider.ts';
import { poolOver } from './upstreams.ts';

const echo = rpcCall('echo', [7], z.number());

describe('compressed responses', () => {
  let provider: Provider | undefined;
  let pool: RpcPool | undefined;
  afterEach(async () => {
    await pool?.close();
    await provider?.stop();
  });

  async function over(encoding: string, compress: (text: string) => Uint8Array, status = 200): Promise<RpcPool> {
    provider = await startProvider(([call]) => ({
      status,
      headers: { 'content-encoding': encoding },
      body: compress(JSON.stringify(call && result(call))),
    }));
    pool = poolOver([provider.url], 20_000);
    return pool;
  }

  it.each<readonly [string, (text: string) => Uint8Array]>([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('are requested, and decoded with %s', async (encoding, compress) => {
    expect(await (await over(encoding, compress)).call(echo)).toBe(7);
    expect(provider?.headers['accept-encoding']).toContain(encoding);
  });

  it('are rejected when they are longer than 8 MiB once decoded', async () => {
    const bomb = (text: string): string => text + ' '.repeat(8 * 2 ** 20);
    await expect((await over('gzip', (text) => gzipSync(bomb(text)))).call(echo)).rejects.toThrow(
      'ERR_BUFFER_TOO_LARGE',
    );
  });

  it.each<readonly [string, (text: string) => Uint8Array]>([
    ['gzip', gzipSync],
    ['identity', (text) => Buffer.from(text)],
  ])('are broken off when they are longer than the call allows: %s', async (encoding, compress) => {
    const upstream = await over(encoding, (text) => compress(text + ' '.repeat(2_000)));
    expect(await upstream.call(boundedTo(4_000, echo))).toBe(7);
    await expect(upstream.call(boundedTo(1_000, echo))).rejects.toThrow('ERR_BUFFER_TOO_LARGE');
  });

  it('are broken off when those of a batch are longer than one of its calls allows, whatever the others', async () => {
    provider = await startProvider((calls, isArray) => ({
      body: JSON.stringify(served(calls, isArray).body) + ' '.repeat(isArray ? 2_000 : 0),
    }));
    pool = poolOver([provider.url], 20_000);
    expect(await pool.batch([echo, boundedTo(4_000, echo)])).toEqual([7, 7]);
    await expect(pool.batch([echo, boundedTo(1_000, echo)])).rejects.toThrow('ERR_BUFFER_TOO_LARGE');
  });

  it('are rejected when they are truncated, or in an encoding that was not requested', async () => {
    const cut = await over('gzip', (text) => gzipSync(text).subarray(0, 20));
    await expect(cut.call(echo)).rejects.toThrow(RpcUnavailableError);
    await Promise.all([cut.close(), provider?.stop()]);
    await expect((await over('compress', (text) => Buffer.from(text))).call(echo)).rejects.toThrow('"compress"');
  });
});
