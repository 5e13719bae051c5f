import { createHmac } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { networks } from '@pf/chains/networks';
import { observationKeys } from '@pf/contracts';
import type { BackingAddresses } from '../backing/backing.ts';
import { CHAIN_NAMES, CHAINS } from '../chains/chains.ts';
import { type StackDependencies, superviseOn } from '../processes/dependencies.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Prepared } from './preparation.ts';
import { screeningVariables } from '../sanctions/addresses.ts';
import { type PortName, PORTS, type Settings } from './settings.ts';

/** Partitions of every topic here; 24 in production. */
export const PARTITIONS = 6;

const SERVICES = [
  { name: 'intent', label: 'intent: the single writer' },
  { name: 'watcher', label: 'watcher: all networks' },
  { name: 'webhook', label: 'webhook: signed deliveries' },
  { name: 'gateway', label: 'gateway: the API' },
  { name: 'dashboard', label: 'dashboard: accounts and their people' },
  { name: 'checkout', label: 'checkout: the page on which people pay' },
  { name: 'archive', label: 'archive: the ledger in Parquet files' },
] as const satisfies readonly { name: PortName; label: string }[];

/** The metrics URL of each service (docs/operations/telemetry.md). */
export const metricsOf = ({ ports }: Pick<Settings, 'ports'>): Record<string, string> =>
  Object.fromEntries(SERVICES.map(({ name }) => [name, `http://127.0.0.1:${ports[`${name}Metrics`]}/metrics`]));

/** Where people open the dashboard. A name: browsers allow no passkeys at an IP address. */
export const dashboardUrl = ({ ports }: Pick<Settings, 'ports'>): string => `http://localhost:${ports.dashboard}`;

/** Where people pay. */
export const checkoutUrl = ({ ports }: Pick<Settings, 'ports'>): string => `http://127.0.0.1:${ports.checkout}`;

/** Where the archive of the ledger lies. */
export const archiveFolder = ({ data }: Pick<Settings, 'data'>): string => path.join(data, 'archive');

/** What services connect and encrypt with. */
interface ServiceSecrets extends Pick<Prepared, 'logins'> {
  readonly secretsKey: string;
}

/** Where services find what they depend on. */
interface ServiceAddresses extends BackingAddresses {
  /** The variables that name the upstreams of each chain. */
  readonly upstreams: Readonly<Record<string, string>>;
}

/** The services as they run in production: the program of the image, configured by the same variables. */
function serviceSpecs(
  settings: Settings,
  addresses: ServiceAddresses,
  { secretsKey, logins }: ServiceSecrets,
): readonly ProcessSpec[] {
  const observationSecret = createHmac('sha256', secretsKey).update('observations').digest('base64url');
  const watched = CHAIN_NAMES.map((name) => CHAINS[name].caip2);
  const shared = {
    KAFKA_BROKERS: addresses.kafka,
    KAFKA_PARTITIONS: String(PARTITIONS),
    HOST: '127.0.0.1',
    SECRETS_KEY: secretsKey,
    // All services change at once here, so nothing old has to read what is sealed.
    SEAL_PERSONAL_DATA: 'true',
    // Nor what is of deposits.
    DEPOSITS: 'true',
    PAY_BY_AMOUNT: 'true',
    // Networks without a local chain get no upstreams: those of the shell would make them served, but not watched.
    ...Object.fromEntries(networks.map(({ upstreamVariable }) => [upstreamVariable, ''])),
    RPC_CONFIG: '',
    ...addresses.upstreams,
    NETWORKS: watched.join(','),
    ...screeningVariables(settings),
    // A developer's webhook receiver runs on this machine.
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
    WEBHOOK_ALLOW_HTTP: 'true',
    DASHBOARD_URL: dashboardUrl(settings),
    CHECKOUT_URL: checkoutUrl(settings),
    // Derived from a secret of this folder, so that people stay signed in over a restart.
    SESSION_SECRET: createHmac('sha256', secretsKey).update('sessions').digest('base64url'),
    DASHBOARD_PASS_SECRET: createHmac('sha256', secretsKey).update('passes').digest('base64url'),
    REPLY_SECRET: createHmac('sha256', secretsKey).update('replies').digest('base64url'),
    OBSERVATION_SECRET: observationSecret,
    OBSERVATION_KEYS: observationKeys(Buffer.from(observationSecret), watched),
    ARCHIVE_URL: pathToFileURL(archiveFolder(settings)).href,
    ARCHIVE_SIGNING_KEY: createHmac('sha256', secretsKey).update('archive').digest('base64'),
    // What was just paid can be queried soon; the files are merged.
    ARCHIVE_FLUSH_SECONDS: '2',
    ARCHIVE_DELIVERIES_SECONDS: '2',
    GATEWAY_URL: `http://127.0.0.1:${settings.ports.gateway}`,
    API_URL: `http://127.0.0.1:${settings.ports.gateway}`,
    // Mails are in the log of the dashboard.
    MAIL_URL: 'log:',
    MAIL_FROM: 'dashboard@localhost',
    NODE_ENV: 'production',
  };
  return SERVICES.map(({ name, label }) => {
    // What is open to the outside has its probes on another port.
    const health =
      name === 'dashboard' || name === 'gateway' || name === 'checkout' ? (`${name}Health` as const) : name;
    const port = settings.ports[health];
    return {
      name,
      label,
      ports: [...new Set([name, health]), `${name}Metrics`],
      stopSignal: 'SIGTERM',
      orphanSignal: 'SIGKILL',
      // Services shut down within 25 s.
      stopMs: 28_000,
      jsonLogs: true,
      prepare: async () => undefined,
      command: () => ({
        file: process.execPath,
        args: ['--enable-source-maps', path.join(settings.root, 'infra/docker/dist/main.js'), name],
        env: {
          ...shared,
          REDIS_URL: addresses.redisLogins?.[name] ?? addresses.redis,
          DATABASE_URL: logins?.[`pf_${name}`] ?? addresses.database,
          METRICS_PORT: String(settings.ports[`${name}Metrics`]),
          ...(health !== name && { [PORTS[name].variable]: String(settings.ports[name]) }),
          HEALTH_PORT: String(port),
        },
      }),
      // Production's liveness probe; no response at all is no verdict.
      stuck: async () =>
        (await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2000) })).status === 503,
      ready: async () => (await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2000) })).ok,
    };
  });
}

/**
 * Starts all services in parallel and waits until each reports that it is ready.
 * @throws Error with the end of the log of a service that is not
 */
export async function startServices(
  dependencies: StackDependencies,
  addresses: ServiceAddresses,
  secrets: ServiceSecrets,
): Promise<void> {
  const { settings, terminal } = dependencies;
  const starts = serviceSpecs(settings, addresses, secrets).map((spec) => {
    const service = superviseOn(dependencies, spec);
    const [port] = spec.ports.map((name) => settings.ports[name]);
    return terminal.step(`${spec.label}, on 127.0.0.1:${port}`, () => service.start());
  });
  await Promise.allSettled(starts);
  await Promise.all(starts);
}
