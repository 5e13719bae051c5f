import os from 'node:os';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { postgresNode } from './postgres-node.ts';

/** Postgres 18 from npm; its password is in the data folder. */
export async function postgresSpec(settings: Settings): Promise<{ spec: ProcessSpec; url: () => Promise<string> }> {
  const node = await postgresNode({ folder: settings.data, name: 'postgres', port: settings.ports.postgres });
  return {
    url: () => node.url(),
    spec: {
      name: 'postgres',
      label: `Postgres 18 (${os.platform()})`,
      ports: ['postgres'],
      // SIGINT is Postgres' "fast shutdown": roll back, write a checkpoint, exit.
      stopSignal: 'SIGINT',
      orphanSignal: 'SIGINT',
      stopMs: 15_000,
      jsonLogs: false,
      stuck: async () => false,
      prepare: () => node.prepare(),
      command: () => node.command(),
      ready: () => node.ready(),
    },
  };
}
