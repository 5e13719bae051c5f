import { afterEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { type Compression, createEventLog } from '../../src/index.ts';
import { collect, freshLog, freshOptions } from '../stack.ts';

const SENT: readonly Compression[] = ['none', 'gzip', 'zstd'];

describe('records', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  it('are read whatever compression they were sent with, all in one partition', async () => {
    const options = freshOptions();
    const log = await freshLog(options);
    const value = JSON.stringify({ text: 'compressible '.repeat(100) });
    for (const compression of SENT) {
      const publisher = await createEventLog({ ...options, compression }).publisher();
      closing.push(() => publisher.close());
      await publisher.publish('intent.dead', { partition: 1, key: compression, value });
    }
    const reader = await log.reader('test');
    closing.push(() => reader.close());
    const batches = await collect(reader.read('intent.dead', 1, 0n, await reader.endOffset('intent.dead', 1)));
    expect(batches.flatMap(({ records }) => records.map((record) => [record.key, record.value]))).toEqual(
      SENT.map((compression) => [compression, value]),
    );
  });

  it('are compressed with zstd unless something else is configured', async () => {
    const { ZSTD } = kafkajs.CompressionTypes;
    const codec = kafkajs.CompressionCodecs[ZSTD]() as { compress(encoder: { buffer: Buffer }): Promise<Buffer> };
    const compressed: number[] = [];
    const original = kafkajs.CompressionCodecs[ZSTD];
    kafkajs.CompressionCodecs[ZSTD] = () => ({
      ...codec,
      compress: async (encoder: { buffer: Buffer }) => {
        const bytes = await codec.compress(encoder);
        compressed.push(bytes.length / encoder.buffer.length);
        return bytes;
      },
    });
    closing.push(async () => void (kafkajs.CompressionCodecs[ZSTD] = original));
    const log = await freshLog();
    const publisher = await log.publisher();
    closing.push(() => publisher.close());
    await publisher.publish('intent.dead', { partition: 0, key: 'key', value: 'compressible '.repeat(100) });
    // A request that is repeated, as for a new topic, is compressed again.
    expect(compressed.length).toBeGreaterThan(0);
    expect(Math.max(...compressed)).toBeLessThan(0.2);
  });
});
