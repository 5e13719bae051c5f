import { startBacking } from '../backing/backing.ts';
import { startGuard } from './reaper.ts';
import { identify, takeOwnership } from './data-lock.ts';
import { portsNeeded, requireFreePorts } from './ports.ts';
import { prepareData } from '../stack/preparation.ts';
import { startSanctions } from '../sanctions/process.ts';
import { sanctionedAddresses, sanctionsOf } from '../sanctions/addresses.ts';
import { secretsKeyOf } from '../stack/secrets-key.ts';
import { metricsOf, startServices } from '../stack/services.ts';
import type { Settings } from '../stack/settings.ts';
import { readStack, type Stack, stackAccount, stackFile, writeStack } from '../stack/stack.ts';
import { summary } from '../stack/summary.ts';
import type { Supervised } from './supervised-process.ts';
import type { Terminal } from './terminal.ts';

interface Order {
  readonly settings: Settings;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly withServices: boolean;
  /** Resolves when our packages are compiled; backing parts do not wait for it. */
  readonly compiled: Promise<void>;
  /** Resolves with the reason when the stack is to end. */
  readonly end: Promise<string>;
  /** Called when everything runs. */
  readonly up: () => void;
}

/**
 * Runs the stack until it is told to end, and ends everything in order: services first, then what they stand on.
 * @throws Error with what could not be started
 */
export async function supervise({
  settings,
  environment,
  terminal,
  withServices,
  compiled,
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

  /** Process ids changed: write them where the next start and where scripts look. */
  function changed(): void {
    const alive = [...services, ...backing].flatMap(({ part, pid }) =>
      pid === null ? [] : [[part.name, pid] as const],
    );
    writing = writing.then(async () => {
      await owner.children(alive.map(([, pid]) => identify(pid)));
      if (stack) await writeStack(settings.data, { ...stack, pids: Object.fromEntries(alive) });
    });
  }
  const stillWanted = (): void => {
    if (phase === 'ending') throw new Error('Stopped during the start.');
  };
  /** A part may run from now on: an end that comes before it does must not miss it. */
  const joins =
    (group: Supervised[]) =>
    (part: Supervised): void => {
      stillWanted();
      group.push(part);
    };
  // The user does not wait for the start: what runs is ended, which makes the start fail.
  const ended = end.then((why) => {
    terminal.line(`\nStopping: ${why}`);
    if (phase === 'starting') for (const part of [...services, ...backing]) void part.stop();
    phase = 'ending';
    aborted.abort();
  });

  const guard = startGuard();
  let stopClocks = (): void => undefined;
  try {
    await requireFreePorts(settings, portsNeeded(settings, withServices));
    const former = await readStack(settings.data);
    // The API keys live here only, so the file stays; but nothing of the last run is true any more.
    if (former) await writeStack(settings.data, { ...former, baseUrl: undefined, metrics: undefined, pids: {} });

    const dependencies = { settings, environment, terminal, guard, changed, started: joins(backing) };
    const screening = withServices ? startSanctions(dependencies) : Promise.resolve();
    // Told below, when the backing parts have come to their end too.
    screening.catch(() => undefined);
    const running = await startBacking(dependencies);
    stopClocks = running.stopClocks;
    stack = { ...former, ...running.addresses, baseUrl: undefined, metrics: undefined };
    if (withServices) {
      await screening;
      await Promise.race([compiled, ended]);
      stillWanted();
      const secretsKey = settings.secretsKey ?? (await secretsKeyOf(settings.data));
      const account = stackAccount.safeParse(former);
      const { database, kafka } = running.addresses;
      const prepared = await prepareData(
        { database, kafka, secretsKey, former: account.data ?? null },
        environment,
        aborted.signal,
      );
      stack = { ...stack, ...prepared, sanctionedAddresses: sanctionedAddresses(), sanctions: sanctionsOf(settings) };
      await startServices(
        { settings, environment, terminal, guard, changed, started: joins(services) },
        running.addresses,
        secretsKey,
      );
      stack = { ...stack, baseUrl: `http://127.0.0.1:${settings.ports.gateway}/v1`, metrics: metricsOf(settings) };
    }
    changed();
    await writing;
    if (phase === 'starting') {
      phase = 'up';
      terminal.line(summary(stack, file));
      up();
    }
    await ended;
    // The gateway first: a request that it has begun still gets its answer from the others.
    const order = [services.filter(({ part }) => part.name === 'gateway'), services];
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
    await stopAll(backing);
    if (stack) stack = { ...stack, baseUrl: undefined, metrics: undefined };
    changed();
    await writing;
    guard.close();
    await owner.release();
  }
}

async function stopAll(parts: readonly Supervised[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}
