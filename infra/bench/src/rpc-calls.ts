import { readOptions } from './rpc/options.ts';
import { runPlans } from './rpc/plans-run.ts';

/**
 * Without arguments: what the running services ask, by the number of open intents. With `--recipients`, `--profile`,
 * `--seconds` or `--json`: what watching costs under the plans of RPC providers.
 */
const options = readOptions(process.argv.slice(2));
if (options === null) await import('./rpc/open-intents-run.ts');
else await runPlans(options);
