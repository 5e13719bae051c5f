// Versity's gateway, an S3 server over a folder, from the PATH, else installed with Go into .tools/versitygw: what the
// drills try the archive in a bucket with.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { isThere, run } from './run.mjs';
import { SetupError, step } from './say.mjs';

const MODULE = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
/** The second is where Go's own installer puts it, which is not on every PATH. */
const GO_PATHS = ['go', '/usr/local/go/bin/go'];

/**
 * @param {string} tools
 * @returns {Promise<string | undefined>} its path; undefined where it is on the PATH
 */
export async function versitygw(tools) {
  if (process.env.VERSITYGW || (await isThere('versitygw'))) return undefined;
  const folder = path.join(tools, 'versitygw');
  const program = path.join(folder, 'versitygw');
  if (existsSync(program)) return program;
  for (const go of GO_PATHS) {
    if (!(await isThere(go, ['version']))) continue;
    await step('An S3 server with Go, once; some minutes', () => {
      mkdirSync(folder, { recursive: true });
      return run(go, ['install', MODULE], { env: { ...process.env, GOBIN: folder } });
    });
    return program;
  }
  throw new SetupError(
    `The drills of the archive need an S3 server. Install Go 1.25 or newer, or the server itself: go install ${MODULE}`,
  );
}
