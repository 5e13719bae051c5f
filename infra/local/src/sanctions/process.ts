import path from 'node:path';
import { type StackDependencies, superviseOn } from '../processes/dependencies.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { sanctionsOf } from './addresses.ts';
import type { Settings } from '../stack/settings.ts';

/** A stand-in for a commercial sanctions API. It runs from source and does not wait for the compiler. */
function sanctionsSpec(settings: Settings): ProcessSpec {
  const { providerUrl, apiKey, listFile } = sanctionsOf(settings);
  return {
    name: 'sanctions',
    label: 'Sanctions list and provider',
    ports: ['sanctions'],
    stopSignal: 'SIGTERM',
    orphanSignal: 'SIGTERM',
    stopMs: 5000,
    jsonLogs: false,
    stuck: async () => false,
    prepare: async () => undefined,
    command: () => ({
      file: process.execPath,
      args: [
        '--conditions=source',
        '--disable-warning=ExperimentalWarning',
        path.join(settings.root, 'infra/local/src/sanctions/provider.ts'),
      ],
      env: { PORT: String(settings.ports.sanctions), API_KEY: apiKey, LIST_FILE: listFile },
    }),
    ready: async () =>
      (await fetch(`${providerUrl}/switch`, { headers: { 'x-api-key': apiKey }, signal: AbortSignal.timeout(2000) }))
        .ok,
  };
}

/** Resolves when the provider responds and has written its list. */
export async function startSanctions(dependencies: StackDependencies): Promise<void> {
  const spec = sanctionsSpec(dependencies.settings);
  const supervised = superviseOn(dependencies, spec);
  await dependencies.terminal.step(`${spec.label} on 127.0.0.1:${dependencies.settings.ports.sanctions}`, () =>
    supervised.start(),
  );
}
