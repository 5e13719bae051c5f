import process from 'node:process';
import { until } from '@pf/testing';
import { type Place, startWriter } from './running-writer.ts';

/**
 * A writer in its own process, which kills itself between the commit of the first events and their projection, the
 * worst moment. Its only argument is the place, as JSON.
 */
const place = JSON.parse(process.argv[2] ?? '') as Place;
const { owner } = await startWriter(place, {
  wrap: (writer) => {
    writer.project = async (): Promise<boolean> => {
      process.kill(process.pid, 'SIGKILL');
      return until('the end', () => false);
    };
    return writer;
  },
});
process.send?.({ owned: owner.owned() });
