import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationError, loadConfig, variables } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import type { ServiceName } from './metrics/metric.ts';
import { startTelemetry } from './telemetry/start.ts';
import { type TelemetryConfig, telemetryVariables } from './telemetry/variables.ts';

/** Kubernetes kills 30 s after SIGTERM; by then we want to be gone by ourselves. */
const SHUTDOWN_MS = 25_000;

export interface ServiceContext {
  readonly log: Logger;
  /** Registers what must be closed; closed in reverse order, each awaited. */
  readonly onShutdown: (name: string, close: () => unknown) => void;
  /** For what cannot be mended in this process: says why, closes what can be closed and exits with 1. The supervisor starts it again. */
  readonly crash: (error: Error) => void;
}

/**
 * Runs a service: configuration, logs and traces first, then `start`. SIGTERM and SIGINT close what was registered, in
 * reverse order, and exit with 0 within 25 s; a configuration that cannot be used exits with 78 and says why.
 */
export function runService(name: ServiceName, start: (context: ServiceContext) => Promise<void>): void {
  let log: Logger;
  let telemetry: TelemetryConfig;
  try {
    log = createLogger(name, loadConfig({ LOG_LEVEL: variables.logLevel }).LOG_LEVEL);
    telemetry = loadConfig(telemetryVariables);
  } catch (error) {
    exitOnConfiguration(error);
    throw error;
  }
  const closers: { name: string; close: () => unknown }[] = [];
  let stopping = false;

  const stop = async (exitCode: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    const began = performance.now();
    const closeAll = async (): Promise<'closed'> => {
      for (const closer of closers.reverse()) {
        try {
          await closer.close();
        } catch (error) {
          log.error({ err: error, part: closer.name }, 'could not be closed');
        }
      }
      return 'closed';
    };
    const outcome = await Promise.race([closeAll(), delay(SHUTDOWN_MS, 'late' as const, { ref: false })]);
    log.info({ outcome, ms: Math.round(performance.now() - began) }, 'stopped');
    log.flush(() => process.exit(exitCode));
    // A log that cannot be flushed does not keep the process.
    setTimeout(() => process.exit(exitCode), 500).unref();
  };
  const crash = (error: Error): void => {
    log.fatal({ err: error }, 'crashed');
    void stop(1);
  };

  process.once('SIGTERM', () => void stop(0));
  process.once('SIGINT', () => void stop(0));
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', (reason) => crash(reason instanceof Error ? reason : new Error(String(reason))));

  const onShutdown: ServiceContext['onShutdown'] = (part, close) => closers.push({ name: part, close });
  const begin = async (): Promise<void> => {
    const running = await startTelemetry(name, telemetry, log);
    onShutdown('telemetry', () => running.stop());
    await start({ log, crash, onShutdown });
  };
  begin().then(
    () => log.info({ ms: Math.round(performance.now()) }, 'started'),
    (error: unknown) => {
      exitOnConfiguration(error);
      crash(error instanceof Error ? error : new Error(String(error)));
    },
  );
}

function exitOnConfiguration(error: unknown): void {
  if (!(error instanceof ConfigurationError)) return;
  process.stderr.write(`${error.message}\n`);
  process.exit(78);
}
