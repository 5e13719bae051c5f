import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { networks } from '@pf/chains/networks';
import { type AuditAction } from '@pf/contracts/dashboard';
import { type Cluster, readBackingStack, startCluster } from '@pf/testing';
import { runPf } from '../src/index.ts';
import { PARTITIONS } from './pf-on.ts';

const URL = 'https://shop.example/webhooks?token=hidden';

describe('pf, as an operator', () => {
  let cluster: Cluster;
  let data: string;

  beforeAll(async () => {
    cluster = await startCluster();
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
    const { databaseUrl: database, accountId } = cluster;
    await writeFile(path.join(data, 'stack.json'), JSON.stringify({ database, accountId }));
    await writeFile(path.join(data, 'secrets-key'), cluster.secretsKey.toString('base64'));
  });
  afterAll(async () => {
    await rm(data, { recursive: true });
    await cluster.close();
  });

  const pf = async (...args: readonly string[]): Promise<string> => {
    let out = '';
    let errors = '';
    const code = await runPf(args, {
      environment: {
        PF_DATA: data,
        KAFKA_BROKERS: readBackingStack().kafka,
        KAFKA_PARTITIONS: String(PARTITIONS),
        KAFKA_PREFIX: cluster.prefix,
      },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
      untilEnded: () => AbortSignal.abort(),
    });
    expect([args, code, errors]).toEqual([args, 0, '']);
    return out;
  };
  const recorded = async (since: number): Promise<readonly Record<string, unknown>[]> => {
    const { rows } = await cluster.database.sql.query<Record<string, unknown>>(
      `SELECT account_id, actor_kind, actor_id, actor_name, action, livemode, address, user_agent, after
         FROM dashboard.audit_entries ORDER BY at, id OFFSET $1`,
      [since],
    );
    return rows;
  };
  const count = (): Promise<number> => cluster.database.prisma.auditEntry.count();

  /** What each command does to an account (`true`) or to all, and the entries that it leaves. */
  const CHANGES: Readonly<
    Record<string, { readonly args: () => Promise<readonly string[]>; readonly leaves: readonly AuditAction[] }>
  > = {
    'accounts create': {
      args: async () => ['Bar'],
      leaves: ['account.created', 'key.created', 'key.created'],
    },
    'accounts plan': { args: async () => [cluster.accountId, 'growth'], leaves: ['account.plan_changed'] },
    'keys create': { args: async () => [], leaves: ['key.created'] },
    'keys revoke': {
      args: async () => [
        (await cluster.database.prisma.apiKey.findFirstOrThrow({ where: { accountId: cluster.accountId } })).id,
      ],
      leaves: ['key.revoked'],
    },
    'webhooks add': { args: async () => [URL], leaves: ['endpoint.created'] },
    'webhooks enable': {
      args: async () => {
        await cluster.database.prisma.webhookEndpoint.updateMany({
          where: { url: URL },
          data: { disabledAt: new Date(), disabledBy: 'gone' },
        });
        return [URL];
      },
      leaves: ['endpoint.enabled'],
    },
    'webhooks remove': { args: async () => [URL], leaves: ['endpoint.removed'] },
    'webhooks secret': { args: async () => [], leaves: ['secret.shown'] },
    'webhooks rotate-secret': { args: async () => [], leaves: ['secret.rotated'] },
    listen: {
      args: async () => ['--forward-to', 'localhost:1/webhooks'],
      leaves: ['secret.shown', 'endpoint.created', 'endpoint.removed'],
    },
    'secrets rotate': { args: async () => [], leaves: ['secrets.encrypted'] },
    'privacy erase': { args: async () => ['--account', cluster.accountId, '--yes'], leaves: ['privacy.erased'] },
    'log rebuild': { args: async () => ['--partition', '0'], leaves: ['ledger.rebuilt'] },
    'positions reset': { args: async () => ['--since', new Date().toISOString()], leaves: ['positions.reset'] },
    'watch rescan': {
      args: async () => {
        const { chain } = networks.find(({ name }) => name === 'base') ?? { chain: '' };
        const cursor = { genesis: '0x', checkpoints: [{ number: '9', hash: '0x' }], rescanned: '9', seen: [] };
        await cluster.database.prisma.networkWatch.create({ data: { chain, cursor } });
        return ['--network', 'base', '--from', '5'];
      },
      leaves: ['watch.rescanned'],
    },
    'watch split': {
      args: async () => ['--network', 'base', '--shards', '2'],
      leaves: ['watch.split'],
    },
    'dead-letters replay': { args: async () => [], leaves: ['dead_letters.replayed'] },
  };
  /** Those that change nothing, or nothing of the service. */
  const READING = [
    'capacity',
    'doctor',
    'accounts list',
    'keys list',
    'webhooks list',
    'log verify',
    'audit settlements',
    'audit wallets',
    'positions show',
    'dead-letters list',
    'log tail',
    ...['query', 'export', 'as-of', 'verify'].map((verb) => `ledger ${verb}`),
    'sanctions update',
    'sanctions status',
    'sanctions check',
    'sanctions flagged',
    'sanctions provider',
    ...['drop', 'fail', 'reorg', 'delay', 'finalize', 'heal', 'status'].map((verb) => `chain ${verb}`),
  ];
  /** Those that ask the API with a key or a token: the dashboard records what people do by it. */
  const BY_API = [
    ...['get', 'list', 'ignore', 'reopen', 'assign', 'unassign'].map((verb) => `deposits ${verb}`),
    ...['create', 'get', 'list', 'cancel', 'refund', 'simulate', 'follow'].map((verb) => `intents ${verb}`),
    ...['create', 'pause', 'resume', 'test', 'attempts', 'deliveries', 'resend'].map((verb) => `webhooks ${verb}`),
    ...['replay', 'replays', 'cancel-replay'].map((verb) => `webhooks ${verb}`),
  ];
  /** It needs an archive: import.integration.test.ts sees its entries. */
  const WITH_ARCHIVE = ['log import'];
  /** As a person, whom the dashboard records. */
  const BY_LOGIN = ['login', 'logout', 'whoami'];

  it.each(Object.keys(CHANGES))('is recorded with what it changes: %s', async (command) => {
    const { args, leaves } = CHANGES[command] ?? { args: async () => [], leaves: [] };
    const given = await args();
    const before = await count();
    await pf(...command.split(' '), ...given);
    const entries = await recorded(before);
    expect(entries.map(({ action }) => action)).toEqual(leaves);
    const ofAccount = !['secrets', 'log', 'positions', 'watch', 'dead-letters'].includes(command.split(' ')[0] ?? '');
    for (const entry of entries)
      expect(entry).toMatchObject({
        actor_kind: 'operator',
        actor_id: null,
        actor_name: userInfo().username,
        address: hostname(),
        user_agent: 'pf',
        account_id: ofAccount ? (expect.stringMatching(/^acct_/) as unknown) : null,
      });
    expect(JSON.stringify(entries)).not.toMatch(/hidden|whsec_|pk_(test|live)_\w{32}/);
  });

  it('is recorded in every command that changes something: a new one needs a row here', async () => {
    const commandsIn = (help: string): readonly string[] =>
      (help.split('Commands:\n')[1] ?? '')
        .split('\n\n')[0]
        ?.split('\n')
        .flatMap((line) => /^ {2}([a-z][\w-]*)/.exec(line)?.slice(1) ?? [])
        .filter((name) => name !== 'help') ?? [];
    const nouns = commandsIn(await pf('--help'));
    const all: string[] = [];
    for (const noun of nouns) {
      const verbs = commandsIn(await pf(noun, '--help'));
      all.push(...(verbs.length === 0 ? [noun] : verbs.map((verb) => `${noun} ${verb}`)));
    }
    expect(all.toSorted()).toEqual(
      [...Object.keys(CHANGES), ...READING, ...BY_API, ...WITH_ARCHIVE, ...BY_LOGIN].sort(),
    );
  });
});
