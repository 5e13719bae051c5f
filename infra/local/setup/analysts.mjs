// kcat and confluent-kafka for Python, with which docs/guide/analysts.md reads the log: the machine's own, else
// unpacked from Debian's packages into .tools/analysts.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { isThere } from './run.mjs';
import { SetupError, step } from './say.mjs';

const WAYS_OUT = 'Install them: `apt-get install kcat python3-confluent-kafka`.';
const PACKAGES = ['kcat', 'python3-confluent-kafka', 'librdkafka1', 'libyajl2'];

/** @param {string} tools */
export async function analysts(tools) {
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
