import path from 'node:path';
import { supervise } from './supervisor.ts';
import { readSettings } from './settings.ts';
import { reason, terminal } from './terminal.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const out = terminal((text) => process.stderr.write(text));

try {
  const what = process.argv[2];
  if (what !== 'start' && what !== 'backing') throw new Error(`Unknown command: ${what ?? '(none)'}. There are start and backing.`);
  await supervise({ settings: readSettings(process.env, root), environment: process.env, terminal: out, withServices: what === 'start' });
} catch (error) {
  out.line(`\n${reason(error)}`);
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
