import { flushCompileCache } from 'node:module';
import type { FromWorker, ToWorker } from './messages.ts';
import { bugs } from './planted/bugs.ts';
import { plant } from './planted/planted.ts';

// A process that runs seeds for its parent. A bug that it is to have is planted before anything is loaded.
const [name] = process.argv.slice(2);
const bug = bugs.find((planted) => planted.name === name);
if (name !== undefined && bug === undefined) throw new Error(`There is no planted bug "${name}".`);
if (bug) plant(bug);

const { failCurrentRun, runSeed } = await import('./run.ts');
const { patchGlobals } = await import('@pf/simulation/kernel');
process.on('unhandledRejection', failCurrentRun);
process.on('uncaughtException', failCurrentRun);
patchGlobals();

const reply = (message: FromWorker): void => void process.send?.(message);
process.on('message', ({ seed, without, keptLines }: ToWorker) => {
  const began = process.hrtime.bigint();
  void runSeed(seed, { without: new Set(without), keptLines }).then(
    ({ plan, failure, lines, fingerprint, entries, virtualMs }) =>
      reply({
        seed,
        kinds: [...plan.kinds],
        failure: failure && { invariant: failure.invariant, what: failure.message },
        lines,
        fingerprint,
        entries,
        virtualMs,
        realMs: Number(process.hrtime.bigint() - began) / 1e6,
      }),
  );
});
// It ends by a kill, before which Node would not store what it has compiled (does nothing without NODE_COMPILE_CACHE).
flushCompileCache();
reply(null);
