// libfaketime, with which tests give a process a wrong clock: the machine's own, else unpacked from Debian's package
// into .tools/faketime.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { isThere } from './run.mjs';
import { SetupError, step } from './say.mjs';

const WAYS_OUT = 'Install it: `apt-get install faketime`.';

/** @param {string} tools */
export async function faketime(tools) {
  const folder = path.join(tools, 'faketime');
  if ((await isThere('faketime')) || existsSync(folder)) return;
  if (!(await hasDebian())) throw new SetupError(`The tests of wrong clocks need libfaketime. ${WAYS_OUT}`);
  await step("libfaketime from Debian's package", async () => {
    try {
      await debian(['libfaketime'], folder);
    } catch (error) {
      throw new SetupError(`${error instanceof Error ? error.message : error}\n\n${WAYS_OUT}`);
    }
  });
}
