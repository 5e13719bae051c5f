import { writeFileSync } from 'node:fs';
import { lifecycleDocument } from './lifecycle-document.ts';

writeFileSync(new URL('../../../docs/lifecycle.md', import.meta.url), lifecycleDocument());
