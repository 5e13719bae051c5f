import { writeFileSync } from 'node:fs';
import { generatedTypes } from './generated-types.ts';

writeFileSync(new URL('../src/generated/api.ts', import.meta.url), await generatedTypes());
