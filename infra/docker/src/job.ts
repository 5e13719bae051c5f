import { ConfigurationError, createLogger, loadConfig, type Logger, pause, variables } from '@pf/runtime';

/** From sysexits.h, as for a service: starting again does not help. */
const EX_CONFIG = 78;
/** As long as a database or a broker may take to start on a small machine. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 1_000;
const CHECK_MS = 3_000;

/**
 * Waits until a dependency responds, as the services do, at most for a minute: ended here, the job would be started
 * again with growing pauses. Behind that the work is tried, and says what is wrong.
 *
 * @param name of the dependency in the log, which has one line for each try
 */
export async function awaitDependency(
  name: string,
  dependency: { ready(timeoutMs: number): Promise<boolean> },
  log: Logger,
): Promise<void> {
  const giveUp = performance.now() + PATIENCE_MS;
  while (!(await dependency.ready(CHECK_MS)) && performance.now() < giveUp) {
    log.warn({ dependency: name }, 'the job waits for a dependency');
    await pause(AGAIN_MS);
  }
}

/**
 * Runs a job to its end and sets the exit code: 0 on success, 78 for an invalid configuration, 1 for a failure after
 * which the job can be retried.
 */
export async function runJob(name: string, work: (log: Logger) => Promise<void>): Promise<void> {
  try {
    const log = createLogger(name, loadConfig({ LOG_LEVEL: variables.logLevel }).LOG_LEVEL);
    try {
      await work(log);
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      log.fatal({ err: error }, 'the job failed');
      process.exitCode = 1;
    }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EX_CONFIG;
  }
}
