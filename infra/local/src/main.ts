import path from 'node:path';
import { reset } from './stack/reset.ts';
import { readSettings } from './stack/settings.ts';
import { supervise } from './processes/supervisor.ts';
import { reason, terminal } from './processes/terminal.ts';

// Run from source by Node's own type stripping, so that backing parts start while our packages are still compiled.
const root = path.resolve(import.meta.dirname, '../../..');
const out = terminal((text) => process.stderr.write(text));

/** Resolves when a person or the bootstrap wants the stack to end. */
const end = new Promise<string>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  // The bootstrap that started us is gone, and with it whoever could have pressed Ctrl-C.
  process.once('disconnect', () => resolve('whoever started it is gone'));
});
/** Resolves when the bootstrap says so; without one, the code is compiled already. */
const compiled = process.connected
  ? new Promise<void>((resolve) => process.on('message', (message) => void (message === 'compiled' && resolve())))
  : Promise.resolve();

try {
  const what = process.argv[2];
  const settings = readSettings(process.env, root);
  if (what === 'reset') await reset(settings.data, out);
  else if (what === 'start' || what === 'backing') {
    const up = (): void => void process.send?.('up');
    await supervise({
      settings,
      environment: process.env,
      terminal: out,
      withServices: what === 'start',
      compiled,
      end,
      up,
    });
  } else throw new Error(`Unknown command: ${what ?? '(none)'}. The commands are start, backing and reset.`);
} catch (error) {
  out.line(`\n${reason(error)}`);
  process.exitCode = 1;
}
process.removeAllListeners('disconnect');
if (process.connected) process.disconnect();
