import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cluster, readBackingStack } from '@pf/testing';
import { runPf } from '../src/index.ts';

/** Of each topic, in tests. */
export const PARTITIONS = 6;

/** How a `pf` command ended: its exit code, its JSON, and what it wrote to stderr. */
interface Ended {
  readonly code: number;
  readonly answer: unknown;
  readonly errors: string;
}

/** The operators' `pf`, with the database and the log of a cluster. */
export interface Pf {
  readonly run: (...args: string[]) => Promise<Ended>;
  readonly close: () => Promise<void>;
}

/** @param environment more variables */
export async function pfOn(cluster: Cluster, environment: Readonly<Record<string, string>> = {}): Promise<Pf> {
  const data = await mkdtemp(path.join(tmpdir(), 'pf-'));
  const stack = { database: cluster.databaseUrl, archive: { path: cluster.archive } };
  await writeFile(path.join(data, 'stack.json'), JSON.stringify(stack));
  return {
    async run(...args) {
      let out = '';
      let errors = '';
      const code = await runPf([...args, '--json'], {
        environment: {
          PF_DATA: data,
          KAFKA_BROKERS: readBackingStack().kafka,
          KAFKA_PARTITIONS: String(PARTITIONS),
          KAFKA_PREFIX: cluster.prefix,
          ...environment,
        },
        write: (text) => (out += text),
        writeError: (text) => (errors += text),
      });
      return { code, answer: out === '' ? null : JSON.parse(out), errors };
    },
    close: () => rm(data, { recursive: true }),
  };
}
