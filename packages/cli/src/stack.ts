import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CopyOptions } from '@pf/archive';
import { archiveUrl } from '@pf/archive/url';
import type { Keyring } from '@pf/database';
import type { ChainId } from '@pf/domain';
import { kafkaVariables } from '@pf/event-log';
import type { UpstreamSettings } from '@pf/rpc';
import { loadConfig, variables } from '@pf/runtime';
import { z } from 'zod';
import { CliError } from './cli-error.ts';

/** Paths are taken from the repository's root, as the local stack does. */
const ROOT = path.resolve(import.meta.dirname, '../../..');
const stackFile = z.looseObject({
  database: variables.databaseUrl,
  kafka: variables.kafkaBrokers.exactOptional(),
  accountId: z.string().exactOptional(),
  baseUrl: z.url().exactOptional(),
  apiKeys: z.object({ test: z.string(), live: z.string() }).exactOptional(),
  dashboard: z.object({ url: z.url() }).exactOptional(),
  chains: z
    .record(z.string(), z.object({ caip2: z.string(), rpcUrl: z.url(), wallets: z.array(z.unknown()) }))
    .exactOptional(),
  archive: z.object({ path: z.string() }).exactOptional(),
  sanctions: z.object({ listFile: z.string(), providerUrl: z.url(), apiKey: z.string() }).exactOptional(),
});
/** Beside stack.json: what SECRETS_KEY holds elsewhere. */
const SECRETS_KEY_FILE = 'secrets-key';

/** As many as the local stack's topics have. */
const LOCAL_PARTITIONS = '6';
type KafkaAccess = ReturnType<typeof loadConfig<typeof kafkaVariables>>;

/** Where the commands find what they work on: the environment, else the local stack. */
export interface StackAccess {
  databaseUrl(): Promise<string>;
  /** The dashboard of the local stack. */
  dashboardUrl(): Promise<string>;
  /** The keys of SECRETS_KEY. */
  secretsKey(): Promise<Keyring>;
  /** The account that the local stack was seeded with. */
  seededAccount(): Promise<string>;
  /**
   * The public API and a key of full scope for it: those of the environment, else the local stack's for its seeded
   * account.
   */
  api(
    mode: 'test' | 'live',
    accountId: string | undefined,
  ): Promise<{ readonly baseUrl: string; readonly apiKey: string }>;
  /** The log's brokers, as the services have them in their environment, else the local stack's. */
  kafka(): Promise<KafkaAccess>;
  /** The chains of the local stack by name; those without wallets are not its own. */
  chains(): Promise<NonNullable<z.infer<typeof stackFile>['chains']>>;
  /** The upstreams of each network, as the services have them in their environment, else the local stack's chains. */
  upstreams(): Promise<ReadonlyMap<ChainId, readonly (string | UpstreamSettings)[]>>;
  /** Where the archive of the ledger lies. */
  archive(): Promise<URL>;
  /** Where copies of its files go if it is in a bucket: a folder of the user's cache (XDG), one for each archive. */
  archiveCopies(): Promise<CopyOptions>;
  /** The list that gateways screen with. */
  sanctionsListFile(): Promise<string>;
  /** The local stack's stand-in for a sanctions API. */
  sanctionsProvider(): Promise<{ readonly url: string; readonly apiKey: string }>;
}

/** Nothing is read before it is asked for. Every answer throws CliError with the remedy where it cannot be given. */
export function findStack(environment?: NodeJS.ProcessEnv): StackAccess {
  const config = loadConfig(
    {
      DATABASE_URL: variables.databaseUrl.optional(),
      SECRETS_KEY: variables.secretsKey.optional(),
      SCREENING_LIST_FILE: z.string().optional(),
      PF_BASE_URL: z.url().optional(),
      PF_API_KEY: z.string().optional(),
      KAFKA_BROKERS: z.string().optional(),
      ARCHIVE_URL: archiveUrl.optional(),
      ARCHIVE_CACHE: z.string().optional(),
      ARCHIVE_CACHE_MB: z.coerce.number().int().positive().default(10_240),
      XDG_CACHE_HOME: z.string().optional(),
      HOME: z.string().optional(),
      PF_DATA: z.string().default('.local'),
    },
    environment,
  );
  const data = path.resolve(ROOT, config.PF_DATA);

  const readStack = async (): Promise<z.infer<typeof stackFile> | null> => {
    const file = path.join(data, 'stack.json');
    const text = await readIfThere(file);
    if (text === null) return null;
    try {
      return stackFile.parse(JSON.parse(text));
    } catch (cause) {
      throw new CliError(`${file} is not a valid stack file. Restart the stack with \`npm start\`.`, { cause });
    }
  };

  return {
    async databaseUrl() {
      if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
      const stack = await readStack();
      if (!stack)
        throw new CliError('No stack is running. Start one with `npm start`, or name a database with DATABASE_URL.');
      return stack.database;
    },
    async dashboardUrl() {
      const url = (await readStack())?.dashboard?.url;
      if (url === undefined) throw new CliError('No stack is running. Name the dashboard: `pf login https://…`.');
      return url;
    },
    async secretsKey() {
      if (config.SECRETS_KEY !== undefined) return config.SECRETS_KEY;
      const file = path.join(data, SECRETS_KEY_FILE);
      const text = await readIfThere(file);
      if (text === null)
        throw new CliError(
          `The key that encrypts webhook secrets is missing: ${file} does not exist. Start a stack with \`npm ` +
            'start`, or set SECRETS_KEY to the key of the services.',
        );
      const key = variables.secretsKey.safeParse(text.trim());
      if (!key.success)
        throw new CliError(`${file} must hold 32 bytes in base64. Set SECRETS_KEY to the key of the services.`);
      return key.data;
    },
    async seededAccount() {
      const accountId = (await readStack())?.accountId;
      if (accountId === undefined)
        throw new CliError('Name the account with --account ID. List the accounts with `pf accounts list`.');
      return accountId;
    },
    async api(mode, accountId) {
      const { PF_BASE_URL, PF_API_KEY } = config;
      const stack = PF_BASE_URL !== undefined && PF_API_KEY !== undefined ? null : await readStack();
      const baseUrl = PF_BASE_URL ?? stack?.baseUrl;
      if (baseUrl === undefined)
        throw new CliError(
          'No stack is running. Start one with `npm start`, or set PF_BASE_URL (including /v1) and PF_API_KEY.',
        );
      if (PF_API_KEY !== undefined) {
        if (!PF_API_KEY.startsWith(`pk_${mode}_`))
          throw new CliError(
            `PF_API_KEY is not a ${mode} key. Add --mode ${mode === 'test' ? 'live' : 'test'}, or set a key that ` +
              `begins with pk_${mode}_.`,
          );
        return { baseUrl, apiKey: PF_API_KEY };
      }
      const foreign = accountId !== undefined && accountId !== stack?.accountId;
      if (!stack?.apiKeys || foreign)
        throw new CliError(
          'Name the API key: create one with `pf keys create --mode ' +
            `${mode}${foreign ? ` --account ${accountId}` : ''}\` and set PF_API_KEY to it. Existing keys cannot ` +
            'be shown again.',
        );
      return { baseUrl, apiKey: stack.apiKeys[mode] };
    },
    async kafka() {
      if (config.KAFKA_BROKERS !== undefined) return loadConfig(kafkaVariables, environment);
      const brokers = (await readStack())?.kafka;
      if (brokers === undefined)
        throw new CliError(
          'No stack is running. Start one with `npm start`, or set KAFKA_BROKERS and KAFKA_PARTITIONS.',
        );
      return loadConfig(kafkaVariables, { KAFKA_BROKERS: brokers.join(','), KAFKA_PARTITIONS: LOCAL_PARTITIONS });
    },
    async chains() {
      const chains = (await readStack())?.chains;
      if (chains === undefined)
        throw new CliError('No stack with local chains is ' + 'running. Start one with `npm start`.');
      return chains;
    },
    async upstreams() {
      // It loads the libraries of all chains, and few commands need them.
      const { upstreamsOf, upstreamVariables } = await import('@pf/chains');
      const configured = upstreamsOf(loadConfig(upstreamVariables, environment));
      if (configured.size > 0) return configured;
      const chains = Object.values((await readStack())?.chains ?? {});
      if (chains.length === 0)
        throw new CliError('No upstream is named. Set RPC_… or RPC_CONFIG as for the watchers, or add --rpc URL.');
      return new Map(chains.map(({ caip2, rpcUrl }) => [caip2 as ChainId, [rpcUrl]]));
    },
    async archive() {
      if (config.ARCHIVE_URL !== undefined) return config.ARCHIVE_URL;
      const folder = (await readStack())?.archive?.path;
      if (folder === undefined)
        throw new CliError('No stack is running. Start one with `npm start`, or name an archive with ARCHIVE_URL.');
      return pathToFileURL(folder);
    },
    async archiveCopies() {
      const { ARCHIVE_CACHE, ARCHIVE_CACHE_MB, XDG_CACHE_HOME = '', HOME = '' } = config;
      // The specification ignores relative paths.
      const cache = [XDG_CACHE_HOME, HOME && path.join(HOME, '.cache')].find((folder) => path.isAbsolute(folder));
      const folder = ARCHIVE_CACHE ?? (cache && path.join(cache, 'pf', 'archive'));
      if (folder === undefined)
        throw new CliError('Name a folder for copies of the files of the archive with ARCHIVE_CACHE.');
      const { href } = await this.archive();
      const name = createHash('sha256').update(href).digest('hex').slice(0, 16);
      return { folder: path.resolve(folder, name), maxBytes: ARCHIVE_CACHE_MB * 1024 * 1024 };
    },
    async sanctionsListFile() {
      if (config.SCREENING_LIST_FILE !== undefined) return path.resolve(config.SCREENING_LIST_FILE);
      const file = (await readStack())?.sanctions?.listFile;
      if (file === undefined)
        throw new CliError(
          'Name the file of the list with --list FILE, or set SCREENING_LIST_FILE as for the gateways.',
        );
      return file;
    },
    async sanctionsProvider() {
      const sanctions = (await readStack())?.sanctions;
      if (sanctions === undefined)
        throw new CliError('No local stack with a sanctions provider is running. Start one with `npm start`.');
      return { url: sanctions.providerUrl, apiKey: sanctions.apiKey };
    },
  };
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
