import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ANSWERS_FILE, API_DOCUMENT, apiDocument, readAnswers } from './api-document.ts';

// Writes docs/reference/api.md from what the tests of the last whole run were answered.
const root = path.resolve(import.meta.dirname, '../../../..');
await writeFile(path.join(root, API_DOCUMENT), apiDocument(await readAnswers(path.join(root, ANSWERS_FILE))));
