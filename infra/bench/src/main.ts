import { once } from 'node:events';
import { connect } from 'node:net';
import { readBackingStack, stackFile } from '@pf/testing';

/**
 * Runs the benchmark that is named. All of them need the backing services of a running stack: without one it says so,
 * and starts nothing. Help needs none.
 */
const [name = ''] = process.argv.splice(2, 1);
const asksForHelp = process.argv.includes('--help') || process.argv.includes('-h');
const missing = asksForHelp ? null : await whatIsMissing();
if (missing === null) await import(`./${name}.ts`);
else {
  console.error(missing);
  process.exitCode = 1;
}

async function whatIsMissing(): Promise<string | null> {
  try {
    const { hostname, port } = new URL(readBackingStack().database);
    // The file of a stack that was stopped still names its services.
    const socket = connect(Number(port === '' ? 5432 : port), hostname).once('connect', () => socket.destroy());
    await once(socket, 'close');
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === undefined
      ? message
      : `The stack of ${stackFile()} does not run (${message}). Start it with \`npm start\`.`;
  }
}
