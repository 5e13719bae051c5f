import { count, flag, type Option } from '@pf/local/command';
import { PLAN_NAMES, type PlanName } from './plans.ts';

const RECIPIENTS = 20;
/** Whole rounds of what is asked every 6 s (Solana) and every 15 s (Base and Tempo, above 1,000 recipients). */
const SECONDS = 60;

const plans: Option<readonly PlanName[]> = {
  about: `Plans of providers: all, or some of ${PLAN_NAMES.join(', ')}`,
  takes: 'NAME,NAME',
  otherwise: ['unlimited'],
  read: (text) => {
    const names = text.split(',').map((name) => name.trim());
    return names.includes('all') ? PLAN_NAMES : [...new Set(names)].map(planOf);
  },
};

/** What `npm run bench:rpc` takes. */
export const BENCH_RPC = {
  name: 'npm run bench:rpc',
  about: 'Counts what the running services ask, by open intents; with an option, what plans of providers cost.',
  options: {
    recipients: count('Recipients of each network, each with an open intent', RECIPIENTS, { most: 100_000 }),
    profile: plans,
    seconds: count('How long is counted while nothing happens', SECONDS, { most: 86_400 }),
    json: flag('Print the figures as JSON'),
  },
};

function planOf(name: string): PlanName {
  const found = PLAN_NAMES.find((one) => one === name);
  if (found !== undefined) return found;
  throw new Error(`there is no plan "${name}". The plans are all, ${PLAN_NAMES.join(', ')}.`);
}
