import { spawn } from 'node:child_process';
import { SetupError } from './say.mjs';

/** What still runs when we end, by Ctrl-C or a failure beside it, ends with us. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill()));

/**
 * Runs a program to its end, quietly.
 * @param {string} file
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<string>} what it wrote to stdout
 * @throws SetupError with the end of what it said, when it fails or is not there
 */
export function run(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    child.once('close', () => running.delete(child));
    let stdout = '';
    let all = '';
    child.stdout.on('data', (data) => ((stdout += data), (all += data)));
    child.stderr.on('data', (data) => (all += data));
    child.once('error', (error) => reject(new SetupError(`${file}: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) resolve(stdout);
      else
        reject(
          new SetupError(
            `${file} ${args.join(' ')} failed (${signal ?? `exit code ${code}`}):\n` +
              `${all.trim().split('\n').slice(-25).join('\n')}`,
          ),
        );
    });
  });
}

/** @returns {Promise<boolean>} whether the program can be run at all */
export const isThere = (file, args = ['--version'], options = {}) =>
  run(file, args, options).then(
    () => true,
    () => false,
  );
