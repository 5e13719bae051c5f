import { loadConfig } from '@pf/runtime';
import { operatorVariables } from './config.ts';
import { runJob } from './job.ts';
import { untilEnded } from './until-ended.ts';

await runJob('operator', async () => {
  // `pf` reads the same variables: what is wrong with them shows at the start, not at the first command.
  loadConfig(operatorVariables);
  await untilEnded();
});
