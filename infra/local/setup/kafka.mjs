// The Kafka broker from Maven's artifacts, in .tools/kafka: 46 jars, 44 MB.
import { rmSync, renameSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';
import { SetupError, step } from './say.mjs';
import { contentsOf, unlessDone } from './stamps.mjs';

const WAYS_OUT =
  'Kafka needs Java 17 or newer, and Maven to fetch it: on Debian and Ubuntu `apt-get install ' +
  'openjdk-17-jre-headless maven`.\nOr name brokers that run elsewhere with KAFKA_BROKERS.';

/** @param {{ root: string, tools: string }} places */
export async function kafka({ root, tools }) {
  const folder = path.join(tools, 'kafka');
  const pom = path.join(root, 'infra', 'kafka', 'pom.xml');
  await requireJava();
  await unlessDone({
    tools,
    name: 'kafka',
    input: () => contentsOf([pom]),
    result: folder,
    work: () =>
      step('Kafka from Maven', async () => {
        const fresh = `${folder}.new`;
        const repository = path.join(tools, 'maven');
        rmSync(fresh, { recursive: true, force: true });
        await run('mvn', [
          '-B',
          '-q',
          '-f',
          pom,
          `-Dmaven.repo.local=${repository}`,
          'dependency:copy-dependencies',
          `-DoutputDirectory=${fresh}`,
        ]).catch((error) => {
          throw new SetupError(`${error.message}\n\n${WAYS_OUT}`);
        });
        rmSync(folder, { recursive: true, force: true });
        renameSync(fresh, folder);
        rmSync(repository, { recursive: true, force: true });
      }),
  });
}

async function requireJava() {
  // "openjdk 17.0.15 2025-04-15"; Java 8 does not know the option.
  const version = await run('java', ['--version']).catch(() => null);
  const major = Number(version?.match(/\d+/)?.[0] ?? 0);
  if (major < 17)
    throw new SetupError(
      `${version === null ? 'There is no Java on the PATH, or it is older than 9' : `Java ${major} is too old`}. ` +
        `${WAYS_OUT}`,
    );
}
