import path from 'node:path';
import { START } from './chains/providers.ts';
import { commandLine } from './command-line.ts';
import { reset } from './stack/reset.ts';
import { readSettings } from './stack/settings.ts';
import { supervise } from './processes/supervisor.ts';
import { reason, terminal } from './processes/terminal.ts';

// Node runs this from source (type stripping), so the backing services start while they are being bundled.
const root = path.resolve(import.meta.dirname, '../../..');
const out = terminal((text) => process.stderr.write(text));

/** Resolves when a signal or the end of the bootstrap asks the stack to stop. */
const end = new Promise<string>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  // Without the bootstrap, Ctrl-C no longer reaches this process.
  process.once('disconnect', () => resolve('the process that started it is gone'));
});
/** Resolves when the bootstrap has bundled the services; at once without a bootstrap. */
const built = process.connected
  ? new Promise<void>((resolve) => process.on('message', (message) => void (message === 'built' && resolve())))
  : Promise.resolve();

try {
  const command = process.argv[2];
  const settings = readSettings(process.env, root);
  if (command === 'reset') await reset(settings.data, out);
  else if (command === 'start' || command === 'backing') {
    const up = (): void => void process.send?.('up');
    await supervise({
      settings,
      providers: command === 'start' ? commandLine(START, process.argv.slice(3)).values.provider : [],
      environment: process.env,
      terminal: out,
      withServices: command === 'start',
      built,
      end,
      up,
    });
  } else throw new Error(`Unknown command: ${command ?? '(none)'}. The commands are start, backing and reset.`);
} catch (error) {
  out.line(`\n${reason(error)}`);
  process.exitCode = 1;
}
process.removeAllListeners('disconnect');
if (process.connected) process.disconnect();
