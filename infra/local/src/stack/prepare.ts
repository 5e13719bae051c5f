// Creates topics, migrates the database and creates an account, in a process of its own: Prisma and the Kafka client
// take 100 MB, which the supervisor should not keep all day. Reads a Preparation on stdin and writes what is Prepared
// to stdout.
import { json } from 'node:stream/consumers';
import { grantRights, migrate } from '@pf/database';
import { createEventLog } from '@pf/event-log';
import { openRoleLogins } from '@pf/testing/role-logins';
import { seedAccount } from './account.ts';
import { PARTITIONS } from './services.ts';
import type { Preparation, Prepared } from './preparation.ts';
import { reason, terminal } from '../processes/terminal.ts';

const out = terminal((text) => process.stderr.write(text));

async function prepare(preparation: Preparation): Promise<Prepared> {
  const eventLog = createEventLog({ brokers: preparation.kafka.split(','), partitions: PARTITIONS, clientId: 'stack' });
  const database = async (): Promise<Prepared> => {
    const url = preparation.database;
    await out.step('Migrate the database', () => migrate(url));
    const logins = await out.step('Give each service a role of its own in the database', async () => {
      const left = await grantRights(url);
      return left.length === 0 ? openRoleLogins(url) : null;
    });
    const account = await out.step('Create an account with test and live keys', () => seedAccount(preparation));
    return { account, logins };
  };
  const [prepared] = await Promise.all([database(), out.step('Create the topics', () => eventLog.createTopics())]);
  return prepared;
}

try {
  process.stdout.write(JSON.stringify(await prepare((await json(process.stdin)) as Preparation)));
} catch (error) {
  out.line(`\n${reason(error)}`);
  process.exitCode = 1;
}
