import { createRequire } from 'node:module';
import { type Logger as PinoLogger, pino } from 'pino';
import type pretty from 'pino-pretty';
import { traceFields } from './telemetry/spans.ts';

export type Logger = PinoLogger;

/** Fields that could hold a secret: their values are redacted, at the top level and one level down. */
const SECRETS = [
  'authorization',
  'apiKey',
  'clientSecret',
  'paymentUrl',
  'solanaPayToken',
  'paymasterUrl',
  'secret',
  'privateKey',
  'password',
  'signedTransaction',
  'ciphertext',
  'url.password',
].flatMap((name) => [name, `*.${name}`]);

/** Logs JSON lines with the trace and the request id in each; on a terminal, lines for people. */
export function createLogger(service: string, level: string): Logger {
  const options = {
    base: { service },
    level,
    mixin: traceFields,
    redact: { paths: SECRETS, censor: '[redacted]' },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  return process.stdout.isTTY
    ? pino(options, prettyLines())
    : pino(options, pino.destination({ dest: 1, sync: false, minLength: 0 }));
}

/** Loaded where it is used: services log JSON, and start faster without it. */
function prettyLines(): pretty.PrettyStream {
  const load = createRequire(import.meta.url)('pino-pretty') as typeof pretty;
  return load({ colorize: true, singleLine: true });
}
