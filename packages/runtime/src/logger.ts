import { type Logger as PinoLogger, pino } from 'pino';
import pretty from 'pino-pretty';
import { traceFields } from './telemetry/spans.ts';

export type Logger = PinoLogger;

/** Names under which a secret could slip into a log line: their values are replaced, at the top and one level down. */
const SECRETS = [
  'authorization',
  'apiKey',
  'secret',
  'privateKey',
  'password',
  'signedTransaction',
  'ciphertext',
  'url.password',
].flatMap((name) => [name, `*.${name}`]);

/** JSON lines with the trace and the request id in each; readable where a person looks at a terminal. */
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
    ? pino(options, pretty({ colorize: true, singleLine: true }))
    : pino(options, pino.destination({ dest: 1, sync: false, minLength: 0 }));
}
