import { ConfigurationError, createLogger, loadConfig, type Logger, variables } from '@pf/runtime';

/** As a service exits on it (sysexits.h, EX_CONFIG): to be started again is of no use. */
const EX_CONFIG = 78;

/**
 * Runs what has an end. Its log says what was done; the exit code is 0, 78 for a configuration that cannot be used, or 1
 * for a failure after which the job can be tried again.
 */
export async function runJob(name: string, work: (log: Logger) => Promise<void>): Promise<void> {
  try {
    const log = createLogger(name, loadConfig({ LOG_LEVEL: variables.logLevel }).LOG_LEVEL);
    try {
      await work(log);
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      log.fatal({ err: error }, 'failed');
      process.exitCode = 1;
    }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EX_CONFIG;
  }
}
