import { ConfigurationError, createLogger, loadConfig, type Logger, variables } from '@pf/runtime';

/** From sysexits.h, as for a service: starting again does not help. */
const EX_CONFIG = 78;

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
