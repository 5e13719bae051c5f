import process from 'node:process';
import { until } from '@pf/testing';
import { startWriter, type WriterLocation } from './running-writer.ts';

/**
 * A writer in its own process, which kills itself between the commit of the first events and their projection, the
 * worst moment. Its only argument is the WriterLocation as JSON.
 */
const location = JSON.parse(process.argv[2] ?? '') as WriterLocation;
const { owner } = await startWriter(location, {
  wrap: (writer) => {
    writer.project = async (): Promise<boolean> => {
      process.kill(process.pid, 'SIGKILL');
      return until('the end', () => false);
    };
    return writer;
  },
});
process.send?.({ owned: owner.owned() });
