import type { ProfileNames } from '@pf/testing/providers';
import { startBacking } from '../backing/backing.ts';
import { startProviders } from '../chains/providers.ts';
import { startReaper } from './reaper.ts';
import { identify, takeOwnership } from './data-lock.ts';
import { portsNeeded, requireFreePorts } from './ports.ts';
import { prepareData } from '../stack/preparation.ts';
import { startSanctions } from '../sanctions/process.ts';
import { sanctionedAddresses, sanctionsOf } from '../sanctions/addresses.ts';
import { secretsKeyOf } from '../stack/secrets-key.ts';
import { archiveFolder, checkoutUrl, dashboardUrl, metricsOf, startServices } from '../stack/services.ts';
import type { Settings } from '../stack/settings.ts';
import { formerAccount, readStack, type Stack, stackFile, writeStack } from '../stack/stack.ts';
import { summary } from '../stack/summary.ts';
import type { Supervised } from './supervised-process.ts';
import type { Terminal } from './terminal.ts';

interface Order {
  readonly settings: Settings;
  /** The profiles of providers between the services and the local chains. */
  readonly providers: readonly ProfileNames[];
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly withServices: boolean;
  /** Resolves when the services are bundled; the backing services do not wait for it. */
  readonly built: Promise<void>;
  /** Resolves with the reason when the stack should stop. */
  readonly end: Promise<string>;
  /** Called when everything runs. */
  readonly up: () => void;
}

/**
 * Runs the stack until `end` resolves, then stops everything in order: first the services, then their dependencies.
 * @throws Error that says what did not start
 */
export async function supervise({
  settings,
  providers: names,
  environment,
  terminal,
  withServices,
  built,
  end,
  up,
}: Order): Promise<void> {
  const owner = await takeOwnership(settings.data, terminal.line);
  const file = stackFile(settings.data);
  const services: Supervised[] = [];
  const backing: Supervised[] = [];
  let phase: 'starting' | 'up' | 'ending' = 'starting';
  let stack: Omit<Stack, 'pids'> | null = null;
  let writing = Promise.resolve();
  const aborted = new AbortController();

  /** Process ids changed: records them for the next start (supervisor.json) and for scripts (stack.json). */
  function changed(): void {
    const alive = [...services, ...backing].flatMap(({ spec, pid }) =>
      pid === null ? [] : [[spec.name, pid] as const],
    );
    writing = writing.then(async () => {
      await owner.children(alive.map(([, pid]) => identify(pid)));
      if (stack) await writeStack(settings.data, { ...stack, pids: Object.fromEntries(alive) });
    });
  }
  const requireStarting = (): void => {
    if (phase === 'ending') throw new Error('Stopped during the start.');
  };
  /** Registers a process before it runs, so that a stop during the start does not miss it. */
  const joins =
    (group: Supervised[]) =>
    (supervised: Supervised): void => {
      requireStarting();
      group.push(supervised);
    };
  // A stop does not wait for the start: it stops what runs, which makes the start fail.
  const ended = end.then((why) => {
    terminal.line(`\nStopping: ${why}`);
    if (phase === 'starting') for (const supervised of [...services, ...backing]) void supervised.stop();
    phase = 'ending';
    aborted.abort();
  });

  const reaper = startReaper();
  let stopClocks = (): void => undefined;
  let stopProviders = (): Promise<void> => Promise.resolve();
  try {
    await requireFreePorts(settings, portsNeeded(settings, withServices));
    const former = await readStack(settings.data);
    // The file stays, since only it has the API keys; but the addresses and process ids of the last run are stale.
    if (former) await writeStack(settings.data, { ...notServing(former), pids: {} });

    const dependencies = { settings, environment, terminal, reaper, changed, started: joins(backing) };
    const screening = withServices ? startSanctions(dependencies) : Promise.resolve();
    // Reported below, when the starts of the backing services have settled, too.
    screening.catch(() => undefined);
    const running = await startBacking(dependencies);
    stopClocks = running.stopClocks;
    stack = notServing({ ...former, ...running.addresses });
    if (withServices) {
      await screening;
      await Promise.race([built, ended]);
      requireStarting();
      const secretsKey = settings.secretsKey ?? (await secretsKeyOf(settings.data));
      const formerOne = formerAccount.safeParse(former);
      const { database, kafka } = running.addresses;
      const { account, logins } = await prepareData(
        { database, kafka, secretsKey, former: formerOne.data ?? null },
        environment,
        aborted.signal,
      );
      const { person, ...known } = account;
      stack = {
        ...stack,
        ...known,
        dashboard: person,
        sanctionedAddresses: sanctionedAddresses(),
        sanctions: sanctionsOf(settings),
      };
      const providers = await startProviders(names, settings, running.addresses.chains);
      stopProviders = providers.stop;
      providers.lines.forEach(terminal.line);
      await startServices(
        { settings, environment, terminal, reaper, changed, started: joins(services) },
        { ...running.addresses, upstreams: providers.upstreams },
        { secretsKey, logins },
      );
      stack = {
        ...stack,
        baseUrl: `http://127.0.0.1:${settings.ports.gateway}/v1`,
        dashboard: { url: dashboardUrl(settings), ...person },
        checkout: { url: checkoutUrl(settings) },
        archive: { path: archiveFolder(settings) },
        metrics: metricsOf(settings),
      };
    }
    changed();
    await writing;
    if (phase === 'starting') {
      phase = 'up';
      terminal.line(summary(stack, file));
      up();
    }
    await ended;
    // The gateway first: its requests in flight still need the other services.
    const order = [services.filter(({ spec }) => spec.name === 'gateway'), services];
    if (services.length > 0)
      await terminal.step('Stop the services', async () => {
        for (const group of order) await stopAll(group);
      });
    stopClocks();
    await terminal.step('Stop the backing services', () => stopAll(backing));
  } finally {
    phase = 'ending';
    stopClocks();
    await stopAll(services);
    await stopProviders();
    await stopAll(backing);
    if (stack) stack = notServing(stack);
    changed();
    await writing;
    reaper.close();
    await owner.release();
  }
}

/** Without the addresses of services, which do not run. */
const notServing = <Known extends Pick<Stack, 'baseUrl' | 'checkout' | 'dashboard' | 'metrics'>>(
  stack: Known,
): Known => ({
  ...stack,
  baseUrl: undefined,
  checkout: undefined,
  metrics: undefined,
  ...(stack.dashboard && { dashboard: { ...stack.dashboard, url: undefined } }),
});

async function stopAll(processes: readonly Supervised[]): Promise<void> {
  await Promise.all(processes.map((supervised) => supervised.stop()));
}
