import path from 'node:path';
import { format, resolveConfig } from 'prettier';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** A text as `npm run format` leaves it. @param file the path that it is for, from the root of the repository */
export async function formatted(file: string, text: string): Promise<string> {
  const filepath = path.join(ROOT, file);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

/**
 * A page with what stands between `<!-- name -->` and `<!-- /name -->` replaced.
 * @param file its path from the root of the repository
 * @throws Error where it lacks the marks
 */
export function withMarked(file: string, page: string, name: string, content: string): Promise<string> {
  const marks = [`<!-- ${name} -->`, `<!-- /${name} -->`] as const;
  const [before, rest] = page.split(marks[0]);
  const after = rest?.split(marks[1])[1];
  if (before === undefined || after === undefined) throw new Error(`${file} lacks the marks ${marks.join(' … ')}.`);
  return formatted(file, `${before}${marks[0]}\n\n${content}\n\n${marks[1]}${after}`);
}
