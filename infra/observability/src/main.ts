// pnpm --filter @pf/observability document: writes the generated files.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FILES } from './files.ts';

const root = path.resolve(import.meta.dirname, '../../..');
for (const [file, content] of Object.entries(FILES)) {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), content);
}
