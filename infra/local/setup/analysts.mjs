// kcat and confluent-kafka for Python, with which docs/guide/analysts.md reads the log: the machine's own, else
// unpacked from Debian's packages into .tools/analysts. And DuckDB for Python, with which it reads the archive: by pip.
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { isThere, run } from './run.mjs';
import { SetupError, step } from './say.mjs';

const WAYS_OUT = 'Install them: `apt-get install kcat python3-confluent-kafka`.';
const PACKAGES = ['kcat', 'python3-confluent-kafka', 'librdkafka1', 'libyajl2'];
const REQUIREMENTS = path.join(import.meta.dirname, 'analysts-requirements.txt');

/** @param {string} tools */
export async function analysts(tools) {
  await kafkaTools(tools);
  await duckdb(tools);
}

/** For the Python that the test runs: Debian's where its packages were unpacked. */
async function duckdb(tools) {
  const folder = path.join(tools, 'analysts-duckdb');
  if (existsSync(folder)) return;
  const python = existsSync(path.join(tools, 'analysts')) ? '/usr/bin/python3' : 'python3';
  const pip = path.join(tools, 'pip');
  await step('DuckDB for Python', async () => {
    const hasPip = await isThere(python, ['-m', 'pip', '--version']);
    if (!hasPip && !existsSync(pip)) {
      if (!(await hasDebian())) throw new SetupError('The test of the guide for analysts needs pip for Python.');
      await debian(['python3-pip'], pip);
    }
    const fresh = `${folder}.download`;
    rmSync(fresh, { recursive: true, force: true });
    // Wheels alone, with these hashes: nothing is built, and no program of a package runs.
    const install = ['install', '--no-deps', '--only-binary', ':all:', '--require-hashes'];
    await run(python, ['-m', 'pip', ...install, '--target', fresh, '--requirement', REQUIREMENTS], {
      env: { ...process.env, ...(!hasPip && { PYTHONPATH: path.join(pip, 'usr/lib/python3/dist-packages') }) },
    });
    renameSync(fresh, folder);
  });
}

async function kafkaTools(tools) {
  const folder = path.join(tools, 'analysts');
  if (existsSync(folder)) return;
  if ((await isThere('kcat', ['-V'])) && (await isThere('python3', ['-c', 'import confluent_kafka']))) return;
  if (!(await hasDebian())) throw new SetupError(`The test of the guide for analysts needs Kafka's tools. ${WAYS_OUT}`);
  await step("kcat and confluent-kafka from Debian's packages", async () => {
    try {
      await debian(PACKAGES, folder);
    } catch (error) {
      throw new SetupError(`${error instanceof Error ? error.message : error}\n\n${WAYS_OUT}`);
    }
  });
}
