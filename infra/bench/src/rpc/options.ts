import { parseArgs } from 'node:util';
import { PLAN_NAMES, type PlanName } from './plans.ts';

/** What `npm run bench:rpc -- …` asks for. */
export interface PlanOptions {
  /** Of each network, each with an open intent. */
  readonly recipients: number;
  readonly plans: readonly PlanName[];
  /** How long is counted while nothing happens. */
  readonly seconds: number;
  readonly json: boolean;
}

const RECIPIENTS = 20;
/** Whole rounds of what is asked every 6 s (Solana) and every 15 s (Base and Tempo, above 1,000 recipients). */
const SECONDS = 60;

/**
 * @returns null without arguments: what is counted then is the running services, by open intents
 * @throws Error with what is wrong, and the remedy
 */
export function readOptions(args: readonly string[]): PlanOptions | null {
  if (args.length === 0) return null;
  const { values } = parseArgs({
    args: [...args],
    options: {
      recipients: { type: 'string' },
      profile: { type: 'string', multiple: true },
      seconds: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const names = (values.profile ?? []).flatMap((list) => list.split(',')).map((name) => name.trim());
  return {
    recipients: countOf('recipients', values.recipients, RECIPIENTS, 100_000),
    plans: names.includes('all') ? PLAN_NAMES : [...new Set(names.length === 0 ? ['unlimited'] : names)].map(planOf),
    seconds: countOf('seconds', values.seconds, SECONDS, 86_400),
    json: values.json,
  };
}

function planOf(name: string): PlanName {
  const found = PLAN_NAMES.find((one) => one === name);
  if (found !== undefined) return found;
  throw new Error(`--profile: there is no plan "${name}". The plans are all, ${PLAN_NAMES.join(', ')}.`);
}

function countOf(name: string, text: string | undefined, otherwise: number, most: number): number {
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new Error(`--${name}: "${text}" is not a whole number from 1 to ${most.toLocaleString('en-US')}.`);
}
