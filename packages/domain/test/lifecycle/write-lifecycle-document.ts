import { writeFileSync } from 'node:fs';
import { lifecycleDocument } from './lifecycle-document.ts';

writeFileSync(new URL('../../../../docs/reference/lifecycle.md', import.meta.url), lifecycleDocument());
