import { commandLine } from '@pf/local/command';
import { BENCH_RPC } from './rpc/options.ts';
import { runPlans } from './rpc/plans-run.ts';

/**
 * Without arguments: what the running services ask, by the number of open intents. With `--recipients`, `--profile`,
 * `--seconds` or `--json`: what watching costs under the plans of RPC providers.
 */
const { values } = commandLine(BENCH_RPC);
if (process.argv.length === 2) await import('./rpc/open-intents-run.ts');
else await runPlans(values);
