import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { generatedTypes } from '../../../packages/client/scripts/generated-types.ts';
import { dashboardPage } from '../../../packages/contracts/test/dashboard-page.ts';
import { errorsDocument } from '../../../packages/contracts/test/errors-document.ts';
import { eventsDocument, schemaFile } from '../../../packages/contracts/test/event-schemas/events-document.ts';
import { lifecycleDocument } from '../../../packages/domain/test/lifecycle/lifecycle-document.ts';
import { metricsDocument } from '../../../packages/runtime/test/metrics/metrics-document.ts';
import { CONTRACT_FILES } from '../../../packages/testing/test/chains/compiled-contracts.ts';
import { CHART_FILES } from '../../k8s-checks/src/chart.ts';
import { documentWithGuards } from '../../mutants/src/guard-list.ts';
import { FILES as OBSERVABILITY } from '../../observability/src/files.ts';
import { NETWORK_FILES } from './networks.ts';
import { REDIS_FILES } from './redis-users.ts';

export const ROOT = path.resolve(import.meta.dirname, '../../..');

/** A file that is written from code, never by hand. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly file: string;
  /** Returns the whole content. `current` is what the file holds now: '' where it is missing. */
  readonly make: (current: string) => string | Promise<string>;
}

/**
 * Every generated file that can be made from the sources alone. docs/reference/api.md is not among them: it names the
 * tests that saw each response, which only a whole test run knows.
 */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { file: 'docs/reference/dashboard-api.md', make: dashboardPage },
  { file: 'docs/reference/errors.md', make: errorsDocument },
  { file: 'docs/reference/events.md', make: eventsDocument },
  // A promise to those who read events: a change that breaks it is refused.
  { file: 'docs/reference/events.schema.json', make: schemaFile },
  { file: 'docs/reference/lifecycle.md', make: lifecycleDocument },
  { file: 'docs/reference/metrics.md', make: metricsDocument },
  // Only the list between its marks is generated.
  { file: 'docs/internals/reliability.md', make: documentWithGuards },
  { file: 'packages/client/src/generated/api.ts', make: generatedTypes },
  ...Object.entries(CONTRACT_FILES).map(([file, make]) => ({ file, make })),
  // Of the contract and the page about chains, only the table between its marks.
  ...Object.entries(NETWORK_FILES).map(([file, make]) => ({ file, make })),
  // Of the page about deployments, only the commands between its marks.
  ...Object.entries(REDIS_FILES).map(([file, make]) => ({ file, make })),
  ...Object.entries(OBSERVABILITY).map(([file, content]) => ({ file, make: () => content })),
  // After the alerts, which it copies.
  ...Object.entries(CHART_FILES).map(([file, make]) => ({ file, make })),
];

/** What a generated file holds now: '' where it is missing. */
export async function currentContent(file: string): Promise<string> {
  return await readFile(path.join(ROOT, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}
