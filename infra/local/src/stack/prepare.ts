// Creates topics, migrates the database and creates an account, in a process of its own: Prisma and the Kafka client
// take 100 MB, which the supervisor should not keep all day. Reads a Preparation on stdin and writes a StackAccount to
// stdout.
import { json } from 'node:stream/consumers';
import { migrate } from '@pf/database';
import { createEventLog } from '@pf/event-log';
import { seedAccount } from './account.ts';
import { PARTITIONS } from './services.ts';
import type { Preparation } from './preparation.ts';
import type { StackAccount } from './stack.ts';
import { reason, terminal } from '../processes/terminal.ts';

const out = terminal((text) => process.stderr.write(text));

async function prepare(preparation: Preparation): Promise<StackAccount> {
  const eventLog = createEventLog({ brokers: preparation.kafka.split(','), partitions: PARTITIONS, clientId: 'stack' });
  const database = async (): Promise<StackAccount> => {
    await out.step('Migrate the database', () => migrate(preparation.database));
    return await out.step('Create an account with test and live keys', () => seedAccount(preparation));
  };
  const [account] = await Promise.all([database(), out.step('Create the topics', () => eventLog.createTopics())]);
  return account;
}

try {
  process.stdout.write(JSON.stringify(await prepare((await json(process.stdin)) as Preparation)));
} catch (error) {
  out.line(`\n${reason(error)}`);
  process.exitCode = 1;
}
