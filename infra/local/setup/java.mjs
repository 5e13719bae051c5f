// Java 17 or newer from the PATH, else unpacked from Debian's package into .tools/java: what Kafka runs on.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { debian, hasDebian } from './debian.mjs';
import { run } from './run.mjs';
import { SetupError, step } from './say.mjs';

const OLDEST = 17;
/** Debian 11 and 12 have the first, Debian 13 has the second, Ubuntu has both. */
const PACKAGES = ['openjdk-17-jre-headless', 'openjdk-21-jre-headless'];
const WAYS_OUT =
  'Kafka needs Java 17 or newer: on Debian and Ubuntu `apt-get install openjdk-17-jre-headless`, on macOS `brew ' +
  'install openjdk@21`, with its bin folder in PATH.\nOr name brokers that run elsewhere with KAFKA_BROKERS.';

/**
 * @param {string} tools
 * @returns {Promise<string | null>} the folder of `java`; null: it is on the PATH
 */
export async function java(tools) {
  const installed = await majorOf('java');
  if (installed >= OLDEST) return null;
  const folder = path.join(tools, 'java');
  if (!existsSync(folder)) {
    if (!(await hasDebian()))
      throw new SetupError(
        `${installed === 0 ? 'No Java is on the PATH' : `Java ${installed} is too old`}. ${WAYS_OUT}`,
      );
    await step("Java from Debian's package", () => unpack(folder));
  }
  const machines = path.join(folder, 'usr', 'lib', 'jvm');
  const name = readdirSync(machines).find((entry) => existsSync(path.join(machines, entry, 'bin', 'java'))) ?? '';
  const bin = path.join(machines, name, 'bin');
  if ((await majorOf(path.join(bin, 'java'))) < OLDEST)
    throw new SetupError(`${path.join(bin, 'java')} does not run. Remove ${folder} and try again, or: ${WAYS_OUT}`);
  return bin;
}

async function unpack(folder) {
  const failures = [];
  for (const name of PACKAGES) {
    try {
      return await debian([name], folder);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : error);
    }
  }
  throw new SetupError(`${failures.join('\n')}\n\nJava could not be fetched from Debian's packages. ${WAYS_OUT}`);
}

/** "openjdk 17.0.15 2025-04-15"; Java 8 does not know the option. @returns {Promise<number>} 0 where there is none */
const majorOf = (program) =>
  run(program, ['--version']).then(
    (text) => Number(text.match(/\d+/)?.[0] ?? 0),
    () => 0,
  );

/**
 * Debian makes Java's list of authorities when it installs the package `ca-certificates-java`. Ours is of those that
 * Node trusts.
 * @param {string} bin the folder of an unpacked `java`
 * @param {string} file is written
 */
export async function writeTrustStore(bin, file) {
  const extra = process.env.NODE_EXTRA_CA_CERTS;
  const pem = `${file}.pem`;
  writeFileSync(pem, [...rootCertificates, ...(extra ? [readFileSync(extra, 'utf8')] : [])].join('\n'));
  try {
    await run(path.join(bin, 'java'), [fileURLToPath(new URL('TrustStore.java', import.meta.url)), pem, file]);
  } finally {
    rmSync(pem, { force: true });
  }
}
