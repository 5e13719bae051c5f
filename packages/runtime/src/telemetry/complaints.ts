import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from '../logger.ts';

/** A collector that is away complains with every export: one line in so long says it. */
const REST_MS = 60_000;

/** What OpenTelemetry has to say, in our log: the first complaint at once, then one a minute with how many there were. */
export class Complaints implements DiagLogger {
  readonly #log: Logger;
  #saidAt = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  error(message: string, ...details: unknown[]): void {
    this.#say(message, details);
  }

  warn(message: string, ...details: unknown[]): void {
    this.#say(message, details);
  }

  info(): void {
    // Of interest to who develops OpenTelemetry; so are the next two.
  }

  debug(): void {
    // As above.
  }

  verbose(): void {
    // As above.
  }

  #say(message: string, details: readonly unknown[]): void {
    const now = performance.now();
    if (now - this.#saidAt < REST_MS) {
      this.#unsaid += 1;
      return;
    }
    this.#saidAt = now;
    const error = details.find((detail) => detail instanceof Error);
    // Not the details themselves: they hold requests, with their headers.
    this.#log.warn(
      { reason: (error?.message ?? message).slice(0, 500), ...(this.#unsaid > 0 && { unsaid: this.#unsaid }) },
      'telemetry cannot be sent',
    );
    this.#unsaid = 0;
  }
}
