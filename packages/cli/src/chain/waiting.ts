import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentFilter, Armed, Payment } from '@pf/chain-controls';
import { ConnectionError, PaymentApiError, PaymentClient, type PaymentIntent } from '@pf/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withApi } from '../api-session.ts';
import { CliError } from '../cli-error.ts';
import { clock, createLines, type Lines } from '../lines.ts';
import { globalOptions, type CommandContext } from '../session.ts';
import { findStack } from '../stack.ts';
import { controlling, type Network, networkNamed } from './network.ts';

export interface WaitingOptions {
  readonly intent?: string;
  readonly payer?: string;
  readonly within: number;
}

export function seconds(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('It must be a whole number from 1 to 99999.');
  return Number(text);
}

/** The options of commands that wait for a payment. */
export const addWaitingOptions = (command: Command): Command =>
  command
    .option('--intent <id>', 'wait for a payment of this intent')
    .option('--payer <wallet>', 'wait for a payment by this wallet')
    .addOption(new Option('--within <seconds>', 'how long to wait for it').argParser(seconds).default(300));

/** What a command that waits for a payment works with. */
export interface Waiting {
  readonly network: Network;
  readonly aim: PaymentFilter;
  readonly lines: Lines;
  readonly ending: AbortSignal;
  /**
   * The intent that a payment is of, once the service knows it and it is as wanted; null: not within so many
   * milliseconds, or none of this account's.
   */
  intentOf(
    payment: Payment,
    isWanted: (intent: PaymentIntent) => boolean,
    withinMs: number,
  ): Promise<PaymentIntent | null>;
}

/** Reads what a person wants, and runs the command's work with it. */
export async function waiting(
  command: Command,
  context: CommandContext,
  named: string,
  options: WaitingOptions,
  work: (waiting: Waiting) => Promise<void>,
): Promise<void> {
  const { json, mode, account } = globalOptions(command);
  const stack = findStack(context.environment);
  const network = await networkNamed(stack, named, mode);
  const aim = await aimOf(command, context, network, options);
  const api = await stack.api(mode, account).catch((error: unknown) => {
    // A chain without the API, or an account whose key is not known: what is done to the chain needs neither.
    if (error instanceof CliError) return null;
    throw error;
  });
  const client = api && new PaymentClient({ ...api, maxRetries: 2 });
  await controlling(() =>
    work({
      network,
      aim,
      lines: createLines(json, context.write),
      ending: context.untilEnded?.() ?? new AbortController().signal,
      intentOf: (payment, isWanted, withinMs) =>
        client === null ? Promise.resolve(null) : findIntent(client, payment, isWanted, withinMs),
    }),
  );
}

async function aimOf(
  command: Command,
  context: CommandContext,
  network: Network,
  { intent: id, payer }: WaitingOptions,
): Promise<PaymentFilter> {
  const found: PaymentIntent[] = [];
  if (id !== undefined)
    await withApi(command, context, async ({ client }) => void found.push(await client.intents.get(id)));
  const [intent] = found;
  if (intent && intent.chain !== network.caip2)
    throw new CliError(`${intent.id} is paid on ${intent.chain}, not on ${network.name} (${network.caip2})`);
  return { ...(payer !== undefined && { payer }), ...(intent && { reference: intent.reference }) };
}

const LOOK_MS = 200;

async function findIntent(
  client: PaymentClient,
  { hash, reference }: Payment,
  isWanted: (intent: PaymentIntent) => boolean,
  withinMs: number,
): Promise<PaymentIntent | null> {
  const until = performance.now() + withinMs;
  do {
    try {
      const { items } = await client.intents.list(reference === null ? { txSignature: hash } : { reference }).page();
      const [intent] = items;
      if (intent && isWanted(intent)) return intent;
    } catch (error) {
      // The chain did what was wanted: that the API does not answer is no failure of it.
      if (!(error instanceof PaymentApiError) && !(error instanceof ConnectionError)) throw error;
    }
    await sleep(LOOK_MS);
  } while (performance.now() < until);
  return null;
}

const whichPayment = ({ payer, reference }: PaymentFilter, { intent }: WaitingOptions): string =>
  [
    `the next payment`,
    intent !== undefined && reference !== undefined && `of ${intent}`,
    payer !== undefined && `by ${payer}`,
  ]
    .filter(Boolean)
    .join(' ');

/**
 * Says what is armed and waits for the payment. null: a person ended it.
 * @throws CliError when none came in time
 */
export async function awaitPayment<T>(
  { lines, ending, network, aim }: Waiting,
  options: WaitingOptions,
  verb: string,
  what: string,
  armed: Armed<T>,
): Promise<T | null> {
  const which = whichPayment(aim, options);
  lines.line(
    {
      event: 'armed',
      control: verb,
      network: network.name,
      chain: network.caip2,
      ...aim,
      withinSeconds: options.within,
    },
    () => `Armed for ${options.within} s on ${network.name}: ${which} ${what}. Submit it now, or stop with Ctrl-C.`,
  );
  const timer = AbortSignal.timeout(options.within * 1000);
  const end = (): void => void armed.end();
  const either = AbortSignal.any([ending, timer]);
  either.addEventListener('abort', end, { once: true });
  if (either.aborted) end();
  const came = await armed.done;
  either.removeEventListener('abort', end);
  if (came !== null) return came;
  if (!ending.aborted)
    throw new CliError(`${network.name} saw no such payment within ${options.within} s. The chain is unchanged.`);
  lines.line({ event: 'ended', control: verb, network: network.name }, () => `Stopped. ${network.name} is unchanged.`);
  return null;
}

/** A line about what has happened to a payment, and the lines that say what comes of it. */
export function tell(
  { lines, network }: Waiting,
  happened: string,
  facts: object,
  { hash, payer }: Payment,
  sentences: readonly string[],
): void {
  lines.line({ event: happened, network: network.name, transaction: hash, payer, ...facts }, () =>
    [
      `${clock(new Date())}  ${happened} ${hash}`,
      `          paid by ${payer}`,
      ...sentences.map((sentence) => `          ${sentence}`),
    ].join('\n'),
  );
}
