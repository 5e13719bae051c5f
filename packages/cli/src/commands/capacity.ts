import { networks } from '@pf/chains';
import { Command, InvalidArgumentError, Option } from 'commander';
import { RECIPIENTS_MEASURED } from '../capacity/figures.ts';
import { type Estimate, estimate, type Load } from '../capacity/estimate.ts';
import { createOutput, table } from '../output.ts';
import { type CommandContext, globalOptions } from '../session.ts';

const MOST_RECIPIENTS = Math.max(...RECIPIENTS_MEASURED);

/** `pf capacity`: what a number of payments takes. It needs neither a database nor a stack. */
export function capacityCommand({ write }: CommandContext): Command {
  return new Command('capacity')
    .description('estimate disk, CPU, replicas, connections and RPC credits for a number of payments')
    .requiredOption('--payments-per-month <number>', 'payments in 30 days', whole(1, 10_000_000_000))
    .option('--peak-factor <number>', 'the busiest minute, compared with the average', decimal(1, 1_000), 5)
    .option('--brokers <number>', 'brokers of Kafka', whole(1, 1_000), 3)
    .addOption(
      new Option('--networks <names>', 'the networks that are watched, separated by commas')
        .argParser(networksOf)
        .default(
          networks.map(({ name }) => name),
          'all',
        ),
    )
    .option('--recipients <number>', 'wallets that wait for payments on a network', whole(1, MOST_RECIPIENTS), 1_000)
    .option('--months <number>', 'how long records have been kept', whole(1, 1_200), 12)
    .option('--webhooks <number>', 'webhook URLs for each payment', whole(0, 100), 1)
    .option('--requests <number>', 'API requests for each payment', whole(1, 10_000), 10)
    .option('--events <number>', 'events of each payment', whole(2, 100), 7)
    .addHelpText(
      'after',
      '\nExamples:\n  pf capacity --payments-per-month 10000000\n' +
        '  pf capacity --payments-per-month 1000000 --networks base,solana --recipients 100 --json\n\n' +
        'What the estimate is made of, and how far it can be trusted: docs/operations/capacity.md',
    )
    .action((options: Load, command: Command) => {
      const estimated = estimate(options);
      createOutput(globalOptions(command).json, write).answer(estimated, () => textOf(estimated));
    });
}

const whole = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  return value;
};
const decimal = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > most)
    throw new InvalidArgumentError(`It is a number from ${least} to ${most}, such as 2.5.`);
  return value;
};

function networksOf(text: string): readonly string[] {
  const known = networks.map(({ name }) => name);
  const names = [...new Set(text.split(','))];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${JSON.stringify(unknown)} is none of ${known.join(', ')}.`);
  return names;
}

const count = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const millions = (credits: number): string => `${count(credits / 1e6)} M`;

/** The estimate as people read it. */
function textOf({ load, perSecond, gigabytes, memory, cores, replicas, connections, ...rest }: Estimate): string {
  const bytes = (value: number): string => (value >= 1_000 ? `${count(value / 1_000, 1)} TB` : `${count(value, 1)} GB`);
  const sections = [
    table([
      ['Per second', 'average', 'peak'],
      ...Object.entries(perSecond).map(([name, { average, peak }]) => [name, count(average, 1), count(peak, 1)]),
    ]),
    table([
      [`Disk after ${load.months} months`, 'size'],
      ['Kafka, each broker', bytes(gigabytes.kafkaPerBroker)],
      ['Kafka, all brokers', bytes(gigabytes.kafkaAll)],
      ['Postgres', bytes(gigabytes.postgres)],
      ['archive', bytes(gigabytes.archive)],
    ]),
    table([
      ['Service', 'cores at the peak', 'replicas', 'at most', 'memory limit'],
      ...Object.entries(replicas).map(([name, { run, most }]) => [
        name === 'watcher' ? 'watcher, each network' : name,
        name in cores ? count(cores[name as keyof typeof cores], 2) : '',
        String(run),
        String(most),
        `${count(name === 'watcher' ? memory.watcherLimitMiB : memory.otherLimitMiB)} MiB`,
      ]),
      ['Kafka', count(cores.kafka, 2)],
      ['Postgres', count(cores.postgres, 2)],
      ['all', count(cores.all, 2)],
    ]),
    `Connections to Postgres, at most: ${count(connections)}\nRedis at rest: ${memory.redisAtLeast} MB`,
    ...costsOf(rest),
    ...(rest.beyond.length === 0
      ? ['The manifests of k8s/ carry this as they are.']
      : [`The manifests of k8s/ do not carry this as they are:\n${rest.beyond.map((line) => `- ${line}`).join('\n')}`]),
  ];
  return sections.join('\n\n');
}

function costsOf({ rpc, unpriced }: Pick<Estimate, 'rpc' | 'unpriced'>): readonly string[] {
  const priced = table([
    ['RPC in 30 days', 'plan', 'credits at rest', 'of payments', 'dollars'],
    ...rpc.map(({ network, plan, idleCredits, paymentCredits, dollarsAMonth }) => [
      network,
      plan,
      millions(idleCredits),
      millions(paymentCredits),
      dollarsAMonth === null ? 'no plan is known' : `$${count(dollarsAMonth)}`,
    ]),
  ]);
  const lines = unpriced.map(
    ({ network, callsPerMinute }) => `${network}: ${callsPerMinute} calls a minute at rest; prices are not published.`,
  );
  return [
    ...(rpc.length === 0
      ? []
      : [`${priced}\nEach line as if all payments were on that network; on test networks there are none.`]),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
  ];
}
