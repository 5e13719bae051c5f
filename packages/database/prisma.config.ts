import path from 'node:path';
import { defineConfig } from 'prisma/config';

// The schema engine is WebAssembly from npm: no Prisma command downloads a binary. Set the variable to use another.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= path.join(import.meta.dirname, 'prisma/schema-engine.mjs');

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://unset' },
});
