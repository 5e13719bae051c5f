// The Kafka broker and its tools from Maven's artifacts, in .tools/kafka: 47 jars, 45 MB, each with the SHA-256 that
// jars.sha256 has.
import { existsSync, rmSync, renameSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { compareWithList, fetchListed } from './jars.mjs';
import { java, writeTrustStore } from './java.mjs';
import { isThere, run } from './run.mjs';
import { SetupError, step } from './say.mjs';
import { contentsOf, unlessDone } from './stamps.mjs';

const WAYS_OUT =
  'Kafka is fetched with Maven: on Debian and Ubuntu `apt-get install maven`, on macOS `brew install maven`.\n' +
  'Without Maven, repeat the command with the URL of a repository of Maven artifacts, Maven Central or a mirror of ' +
  'yours:\n  MAVEN_REPOSITORY=https://… npm start\n' +
  'It needs to have the paths of infra/kafka/jars.sha256 below it; a jar with another checksum is refused.\n' +
  'Or name brokers that run elsewhere with KAFKA_BROKERS.';

/**
 * @param {{ root: string, tools: string }} places
 * @returns {Promise<string | null>} the folder of the `java` that it runs on; null: it is on the PATH
 */
export async function kafka({ root, tools }) {
  const folder = path.join(tools, 'kafka');
  const pom = path.join(root, 'infra', 'kafka', 'pom.xml');
  // The SHA-256 of every jar, whoever has fetched it.
  const list = path.join(root, 'infra', 'kafka', 'jars.sha256');
  const bin = await java(tools);
  await unlessDone({
    tools,
    name: 'kafka',
    input: () => contentsOf([pom, list]),
    result: folder,
    work: async () => {
      const fresh = `${folder}.new`;
      rmSync(fresh, { recursive: true, force: true });
      const repository = process.env.MAVEN_REPOSITORY;
      if (repository) await step('Kafka, by its checksums', () => fetchListed(list, repository, fresh));
      else {
        const mvn = await maven(tools, bin);
        await step('Kafka from Maven', () => fetchJars({ tools, pom, fresh, bin, mvn }));
        compareWithList(list, fresh);
      }
      rmSync(folder, { recursive: true, force: true });
      renameSync(fresh, folder);
    },
  });
  return bin;
}

async function fetchJars({ tools, pom, fresh, bin, mvn }) {
  const repository = path.join(tools, 'maven-repository');
  const authorities = path.join(tools, 'authorities.jks');
  if (bin) await writeTrustStore(bin, authorities);
  const environment = { ...process.env, ...(bin && { JAVA_HOME: path.dirname(bin) }) };
  await run(
    mvn,
    [
      '-B',
      '-q',
      // A jar without the hash that it is published with is refused, not only warned of.
      '--strict-checksums',
      '-f',
      pom,
      `-Dmaven.repo.local=${repository}`,
      ...(bin ? [`-Djavax.net.ssl.trustStore=${authorities}`] : []),
      'dependency:copy-dependencies',
      `-DoutputDirectory=${fresh}`,
    ],
    { env: environment },
  ).catch((error) => {
    throw new SetupError(`${error.message}\n\n${WAYS_OUT}`);
  });
  for (const leftover of [repository, authorities]) rmSync(leftover, { recursive: true, force: true });
}

/** @returns {Promise<string>} the program: from the PATH, else unpacked from Debian's packages into .tools/maven */
async function maven(tools, bin) {
  // Without Java it cannot say its version.
  const environment = { ...process.env, ...(bin && { JAVA_HOME: path.dirname(bin) }) };
  if (await isThere('mvn', ['--version'], { env: environment })) return 'mvn';
  const folder = path.join(tools, 'maven');
  if (!existsSync(folder)) {
    if (!(await hasDebian())) throw new SetupError(`No Maven is on the PATH. ${WAYS_OUT}`);
    await step("Maven from Debian's packages", async () => {
      try {
        await debian(['maven'], folder, /-java$/);
      } catch (error) {
        throw new SetupError(`${error instanceof Error ? error.message : error}\n\n${WAYS_OUT}`);
      }
    });
  }
  return path.join(folder, 'usr', 'share', 'maven', 'bin', 'mvn');
}
