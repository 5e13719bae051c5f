import { describe, expect, it } from '@jest/globals';
import factory from 'ggwave';
import { Modem } from '../../src/sound/modem.ts';
import { crc8, parsePayload, payloadOf } from '../../src/sound/payload.ts';
import { decode, encode, fromWav, SoundError, toWav } from '../../src/sound/node.ts';
import { resample } from '../../src/sound/resampler.ts';
import { intentOf, joined, mixed, noisy, randomOf, RATE, silence, surrounded } from './channel.ts';
import { CONDITIONS, tried } from './conditions.ts';

const intent = intentOf(1);
const code = (expected: string) => expect.objectContaining({ name: 'SoundError', code: expected });

/** A sound with bytes that are not ours. */
async function foreign(payload: Uint8Array, protocol: string): Promise<Float32Array> {
  const ggwave = await factory({ print: () => undefined, printErr: () => undefined });
  const instance = ggwave.init({ ...ggwave.getDefaultParameters(), sampleRateOut: RATE });
  const samples = ggwave.encode(instance, payload, ggwave.ProtocolId[protocol] ?? {}, 50).slice();
  ggwave.free(instance);
  return new Float32Array(samples.buffer);
}
const hear = async (samples: Float32Array) => await decode({ samples, sampleRate: RATE });

describe('the payload of a sound', () => {
  it('is 18 bytes that say id and mode', () => {
    for (const livemode of [true, false]) {
      const payload = payloadOf(intentOf(2, livemode));
      expect(payload).toHaveLength(18);
      expect(parsePayload(payload)).toEqual(intentOf(2, livemode));
    }
  });
  it('has the checksum CRC-8/SMBUS', () => {
    expect(crc8(new TextEncoder().encode('123456789'))).toBe(0xf4);
  });
  it('is refused with any byte changed', () => {
    const payload = payloadOf(intent);
    for (let index = 0; index < payload.length; index += 1) {
      const changed = payload.slice();
      changed[index] = (changed[index] ?? 0) ^ (1 << (index % 8));
      expect(parsePayload(changed)).toBeNull();
    }
  });
  it('is refused with another type and a correct checksum, or with another length', () => {
    const other = payloadOf(intent);
    other[0] = 0x20;
    other[17] = crc8(other.subarray(0, -1));
    expect(parsePayload(other)).toBeNull();
    expect(parsePayload(payloadOf(intent).subarray(1))).toBeNull();
    expect(parsePayload(new Uint8Array(18))).toBeNull();
  });
  it.each([
    '',
    'pi_',
    'pi_0OIl0OIl0OIl0OIl',
    `pi_${'1'.repeat(22)}`,
    `pi_${'z'.repeat(22)}`,
    'evt_4ZkTW2JcvyhJ6bE6nB9Yvq',
  ])('is not made of "%s"', (id) => expect(() => payloadOf({ id, livemode: false })).toThrow(SoundError));
});

describe('encode', () => {
  it('takes 1.8 seconds, or 2.4, at any rate that carries it', async () => {
    for (const sampleRate of [44_100, 48_000, 96_000]) {
      const fast = await encode(intent, { sampleRate });
      expect(fast.samples.length / sampleRate).toBeCloseTo(1.835, 2);
      expect(await decode(fast)).toEqual([{ ...intent, count: 1 }]);
    }
    const normal = await encode(intent, { pace: 'normal' });
    expect(normal.samples.length / RATE).toBeCloseTo(2.411, 2);
    expect(await decode(normal)).toEqual([{ ...intent, count: 1 }]);
  });
  it('stays between 15 and 19.5 kHz, and within the volume', async () => {
    const { samples } = await encode(intent, { volume: 30 });
    expect(samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThanOrEqual(0.3);
    const middle = samples.subarray(20_000, 60_000);
    const power = (frequency: number): number => {
      let [re, im] = [0, 0];
      middle.forEach((sample, index) => {
        re += sample * Math.cos((2 * Math.PI * frequency * index) / RATE);
        im += sample * Math.sin((2 * Math.PI * frequency * index) / RATE);
      });
      return re * re + im * im;
    };
    const band = [15_000, 15_750, 17_250, 18_750].map(power);
    for (const frequency of [1_000, 5_000, 10_000, 13_500, 21_000, 23_000])
      expect(power(frequency)).toBeLessThan(Math.max(...band) / 1_000);
  });
  it('leaves the handlers of the process alone', async () => {
    const handlers = () => [process.listeners('uncaughtException'), process.listeners('unhandledRejection')];
    const before = handlers();
    await Modem.load();
    expect(handlers()).toEqual(before);
  });
  it.each([16_000, 32_000, 1_000_000, Number.NaN])('refuses a rate of %s Hz', async (sampleRate) => {
    await expect(encode(intent, { sampleRate })).rejects.toEqual(code('sample_rate'));
    await expect(decode({ samples: silence(1), sampleRate })).rejects.toEqual(code('sample_rate'));
  });
  it('refuses an invalid id', async () => {
    await expect(encode({ id: 'pi_x', livemode: true })).rejects.toEqual(code('invalid_id'));
  });
});

describe('decode', () => {
  const TRIES = 2;
  it.each(CONDITIONS)('hears enough through $name', async (condition) => {
    for (const pace of ['fast', 'normal'] as const) {
      const { heard, wrong } = await tried(condition, pace, TRIES);
      expect(wrong).toBe(0);
      expect(heard).toBeGreaterThanOrEqual(Math.floor((condition.atLeast[pace] * TRIES) / 10));
    }
  });
  it('hears nothing in silence and in noise', async () => {
    const random = randomOf(1);
    expect(await hear(silence(5))).toEqual([]);
    expect(await hear(silence(5).map(() => random() - 0.5))).toEqual([]);
  });
  it('counts repetitions, and lists several ids', async () => {
    const one = surrounded((await encode(intent)).samples);
    const two = surrounded((await encode(intentOf(2, true), { pace: 'normal' })).samples);
    expect(await hear(joined(one, two, one))).toEqual([
      { ...intent, count: 2 },
      { ...intentOf(2, true), count: 1 },
    ]);
  });
  it('never makes an id of two sounds at once', async () => {
    const [one, two] = await Promise.all([encode(intent), encode(intentOf(2))]);
    expect(await hear(surrounded(mixed(one.samples, two.samples)))).toEqual([]);
  });
  it('ignores foreign and corrupted sounds', async () => {
    const ours = payloadOf(intent);
    const corrupted = ours.slice();
    corrupted[5] = (corrupted[5] ?? 0) ^ 1;
    const sounds = [
      await foreign(new TextEncoder().encode('hello'), 'GGWAVE_PROTOCOL_ULTRASOUND_FAST'),
      await foreign(new TextEncoder().encode('eighteen bytes, not'.slice(0, 18)), 'GGWAVE_PROTOCOL_ULTRASOUND_FAST'),
      await foreign(corrupted, 'GGWAVE_PROTOCOL_ULTRASOUND_NORMAL'),
      await foreign(ours, 'GGWAVE_PROTOCOL_AUDIBLE_FAST'),
    ];
    expect(await hear(joined(...sounds.map(surrounded)))).toEqual([]);
    // The same way, with bytes of ours.
    expect(await hear(surrounded(await foreign(ours, 'GGWAVE_PROTOCOL_ULTRASOUND_FAST')))).toHaveLength(1);
  });
  it('hears a sound soon after another has stopped in the middle', async () => {
    const { samples } = await encode(intent);
    const whole = surrounded((await encode(intentOf(2))).samples);
    const heard = await hear(joined(samples.subarray(0, RATE), silence(3), whole, whole));
    expect(heard).toEqual([{ ...intentOf(2), count: expect.any(Number) }]);
  });
  it('hears pieces of any size', async () => {
    const samples = noisy((await encode(intent)).samples, 0, 1);
    const receiver = (await Modem.load()).receiver(44_100);
    const recorded = resample(samples, RATE, 44_100);
    const heard = [];
    for (let at = 0; at < recorded.length; at += 441) heard.push(...receiver.push(recorded.subarray(at, at + 441)));
    receiver.close();
    expect(heard).toEqual([intent]);
    expect(receiver.push(recorded)).toEqual([]);
  });
});

describe('WAV files', () => {
  it('are read as they were written', async () => {
    const recording = await encode(intent, { sampleRate: 44_100 });
    const read = fromWav(toWav(recording));
    expect(read.sampleRate).toBe(44_100);
    expect(read.samples).toHaveLength(recording.samples.length);
    expect(await decode(read)).toEqual([{ ...intent, count: 1 }]);
  });
  it.each([
    { kind: 1, bits: 8 },
    { kind: 1, bits: 24 },
    { kind: 1, bits: 32 },
    { kind: 3, bits: 32 },
  ])('are read with $bits bits in format $kind, of several channels the first', async ({ kind, bits }) => {
    const { samples } = await encode(intent);
    expect(await decode(fromWav(stereo(samples, kind, bits)))).toEqual([{ ...intent, count: 1 }]);
  });
  it.each([
    ['nothing', new Uint8Array(0)],
    ['another file', new TextEncoder().encode('OggS, and then something else')],
    ['no data', toWav({ samples: silence(0), sampleRate: RATE }).subarray(0, 36)],
    ['a format that is cut off', toWav({ samples: silence(0), sampleRate: RATE }).subarray(0, 24)],
    ['a compressed format', toWav({ samples: silence(1), sampleRate: RATE }).fill(7, 20, 21)],
    ['no channels', toWav({ samples: silence(1), sampleRate: RATE }).fill(0, 22, 23)],
  ])('are refused with %s', (_, file) => {
    expect(() => fromWav(file)).toThrow(code('invalid_audio'));
  });
});

/** A WAV file with a second, silent channel and a chunk of an unknown type. */
function stereo(samples: Float32Array, kind: number, bits: number): Uint8Array {
  const bytes = bits / 8;
  const file = new Uint8Array(56 + samples.length * 2 * bytes);
  file.set(toWav({ samples: silence(0), sampleRate: RATE }).subarray(0, 36));
  const view = new DataView(file.buffer);
  view.setUint16(20, kind, true);
  view.setUint16(22, 2, true);
  view.setUint16(34, bits, true);
  file.set(new TextEncoder().encode('LIST'), 36);
  view.setUint32(40, 3, true);
  file.set(new TextEncoder().encode('data'), 48);
  view.setUint32(52, samples.length * 2 * bytes, true);
  samples.forEach((sample, index) => {
    const at = 56 + index * 2 * bytes;
    if (kind === 3) view.setFloat32(at, sample, true);
    else if (bits === 8) view.setUint8(at, Math.round(sample * 127) + 128);
    else if (bits === 32) view.setInt32(at, Math.round(sample * 2_147_483_647), true);
    else {
      const value = Math.round(sample * 8_388_607);
      view.setUint8(at, value & 0xff);
      view.setInt16(at + 1, value >> 8, true);
    }
  });
  return file;
}
