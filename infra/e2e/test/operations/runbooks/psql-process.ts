// psql as far as the runbooks use it: `psql URL`, or `psql URL -c STATEMENTS …`, with any options before `c`.
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '@pf/database';
import { complain } from '../../../../k8s-checks/src/runbooks/complaints.ts';
import { readSurroundings } from './surroundings.ts';

/** The session that the pages end. */
const VICTIM = /pg_terminate_backend\(\d+\)/;
/** Users belong to all databases of the server: what changes them is taken back. */
const OF_USERS = /^(ALTER|CREATE) ROLE /;
const ENDS_WITHIN_MS = 10_000;

const surroundings = readSurroundings();
const [url = '', ...options] = process.argv.slice(2);
const statements = options.filter((_, index) => /^-\w*c$/.test(options[index - 1] ?? ''));
const isUnderstood = options.length === 2 * statements.length;
if (!isUnderstood) complain(`psql ${options.join(' ')}: the check does not know these options`);

const open = (at: string) => openDatabase({ url: at, applicationName: 'psql', maxConnections: 1 });
const database = open(url);

/** Ends a session of a service, whatever number the page has. */
async function endVictim(statement: string): Promise<void> {
  const victim = open(surroundings.victimUrl);
  const client = await victim.sql.connect();
  const ended = new Promise<true>((resolve) => client.once('end', () => resolve(true)));
  client.on('error', () => undefined);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await database.sql.query(statement.replace(VICTIM, `pg_terminate_backend(${rows[0]?.pid})`));
  const isEnded = await Promise.race([ended, delay(ENDS_WITHIN_MS, false)]);
  if (!isEnded) complain(`psql: ${statement} ended no session`);
  client.release(true);
  await victim.close();
}

/** As the owner of the tables, who may. */
async function changeUsers(statement: string): Promise<void> {
  const owner = open(surroundings.values['secret/database-owner/DATABASE_URL'] ?? '');
  await owner.sql.query(`BEGIN; ${statement}; ROLLBACK`);
  await owner.close();
}

for (const statement of statements.length === 0 ? ['SELECT 1'] : statements)
  try {
    if (VICTIM.test(statement)) await endVictim(statement);
    else if (OF_USERS.test(statement)) await changeUsers(statement);
    else await database.sql.query(statement);
  } catch (error) {
    const { message } = error as Error;
    const [, refusal] = Object.entries(surroundings.refused).find(([part]) => statement.includes(part)) ?? [];
    if (refusal === undefined || !message.includes(refusal)) complain(`psql: ${message}: ${statement}`);
  }
await database.close();
process.exit();
