import { writeFileSync } from 'node:fs';
import { errorsDocument } from './errors-document.ts';

writeFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), errorsDocument());
