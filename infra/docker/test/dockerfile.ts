import { readFileSync } from 'node:fs';
import path from 'node:path';

/** One instruction of a Dockerfile: `COPY`, and what follows it on one line. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The stages of a Dockerfile of this folder by their names; the last, which becomes the image, is `image`. */
export function stagesOf(file: string): ReadonlyMap<string, readonly Instruction[]> {
  const lines = readFileSync(path.join(import.meta.dirname, '..', file), 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const instructions = lines.map((line) => {
    const [name = '', text = ''] = line.trim().split(/\s+(.*)/s);
    return { name: name.toUpperCase(), text };
  });
  const begins = instructions.flatMap(({ name }, at) => (name === 'FROM' ? [at] : []));
  return new Map(
    begins.map((at, place) => [
      / AS (\S+)$/i.exec(instructions[at]?.text ?? '')?.[1] ?? 'image',
      instructions.slice(at, begins[place + 1]),
    ]),
  );
}
