import { flushCompileCache } from 'node:module';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationError, loadConfig, variables } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import type { ServiceName } from './metrics/metric.ts';
import { startTelemetry } from './telemetry/start.ts';
import { type TelemetryConfig, telemetryVariables } from './telemetry/variables.ts';

/** Kubernetes kills a process 30 s after SIGTERM: it should have exited by then. */
const SHUTDOWN_MS = 25_000;
/**
 * For a connection to one of several addresses, before the next one is tried: upstreams, Kafka, Postgres and all others
 * may be further away than Node's 250 ms. The shortest limit of a request to any of them has room for two.
 */
const ATTEMPT_MS = 1_000;

export interface ServiceContext {
  readonly log: Logger;
  /** Registers what must be closed: in reverse order, each awaited. */
  readonly onShutdown: (name: string, close: () => unknown) => void;
  /** For errors from which this process cannot recover: logs the error, closes what it can and exits with 1. */
  readonly crash: (error: Error) => void;
}

/**
 * Runs a service: configuration, logs and telemetry first, then `start`. SIGTERM and SIGINT close what was registered,
 * in reverse order, and exit with 0 within 25 s; an invalid configuration is written to stderr and exits with 78.
 */
export function runService(name: ServiceName, start: (context: ServiceContext) => Promise<void>): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ATTEMPT_MS);
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
    // The process exits even if the log cannot be flushed.
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
    () => {
      log.info({ ms: Math.round(performance.now()) }, 'started');
      // Node itself stores what it has compiled only when it exits in order (does nothing without NODE_COMPILE_CACHE).
      flushCompileCache();
    },
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
