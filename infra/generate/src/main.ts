// npm run generate: writes every generated file that is stale, and says which.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  RESPONSES_FILE,
  API_DOCUMENT,
  apiDocument,
  readResponses,
  unseenResponses,
} from '../../local/src/checks/api-document.ts';
import { currentContent, GENERATED_FILES, ROOT } from './generated-files.ts';

/** @returns whether the file was stale */
async function write(file: string, content: string, current: string): Promise<boolean> {
  if (content === current) return false;
  await mkdir(path.dirname(path.join(ROOT, file)), { recursive: true });
  await writeFile(path.join(ROOT, file), content);
  console.log(`written     ${file}`);
  return true;
}

let written = 0;
for (const { file, make } of GENERATED_FILES) {
  const current = await currentContent(file);
  if (await write(file, await make(current), current)) written++;
}

const responses = await readResponses(path.join(ROOT, RESPONSES_FILE));
const unseen = unseenResponses(responses);
if (unseen.length > 0) {
  const why = responses.length === 0 ? 'there is no record of one' : `the last one misses ${unseen.length} responses`;
  console.log(`not checked ${API_DOCUMENT}: it needs the record of a whole test run, and ${why}. Run \`npm test\`.`);
} else if (await write(API_DOCUMENT, apiDocument(responses), await currentContent(API_DOCUMENT))) written++;

const total = GENERATED_FILES.length + (unseen.length > 0 ? 0 : 1);
console.log(`${written} of ${total} generated files were stale.`);
