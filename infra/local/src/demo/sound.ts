import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Announced, decode, encode, fromWav, toWav } from '@pf/client/sound/node';
import type { Intent, Scene } from './scene.ts';

/**
 * The shop says an intent's id by sound, and the payer's phone hears it. A file stands in for the air between them.
 * @returns the id that was heard
 * @throws Error when it is not exactly one
 */
export async function overhear({ time }: Scene, intent: Intent): Promise<Announced> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pf-demo-'));
  try {
    const file = path.join(folder, 'sound.wav');
    const sound = await encode(intent);
    await writeFile(file, toWav(sound));
    const seconds = (sound.samples.length / sound.sampleRate).toFixed(2);
    time.step('the shop plays its id', `${seconds} s between 15 and 19.5 kHz, as WAV`);
    const heard = await decode(fromWav(await readFile(file)));
    const [only] = heard;
    if (only === undefined || heard.length > 1) throw new Error(`the phone heard ${heard.length} ids instead of one`);
    time.step('the phone hears', only.id);
    return only;
  } finally {
    await rm(folder, { recursive: true });
  }
}
