import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from '../logger.ts';

/** While a collector is unavailable every export fails: one line in this time says so. */
const QUIET_MS = 60_000;

/** OpenTelemetry's own warnings in our log: the first at once, then one per minute with the number of omitted ones. */
export class DiagnosticLog implements DiagLogger {
  readonly #log: Logger;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #suppressed = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  error(message: string, ...details: unknown[]): void {
    this.#warn(message, details);
  }

  warn(message: string, ...details: unknown[]): void {
    this.#warn(message, details);
  }

  info(): void {
    // Only of interest to developers of OpenTelemetry; so are the next two.
  }

  debug(): void {
    // As above.
  }

  verbose(): void {
    // As above.
  }

  #warn(message: string, details: readonly unknown[]): void {
    const now = performance.now();
    if (now - this.#loggedAt < QUIET_MS) {
      this.#suppressed += 1;
      return;
    }
    this.#loggedAt = now;
    const error = details.find((detail) => detail instanceof Error);
    const reason = (error?.message ?? message).slice(0, 500);
    // Not the details themselves: they hold requests, with their headers.
    this.#log.warn(
      { reason, ...(this.#suppressed > 0 && { suppressed: this.#suppressed }) },
      'telemetry cannot be sent',
    );
    this.#suppressed = 0;
  }
}
