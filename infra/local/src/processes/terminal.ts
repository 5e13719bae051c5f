/** The supervisor's output. Everything goes to stderr: stdout is for results. */
export interface Terminal {
  readonly line: (text: string) => void;
  /** Runs a step and prints its label and duration, also when it fails. */
  readonly step: <T>(label: string, work: () => Promise<T>) => Promise<T>;
}

/** @returns "0.42 s", "12.3 s" */
const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

/** @returns the message of whatever was thrown */
export const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function terminal(write: (text: string) => void): Terminal {
  const line = (text: string): void => write(`${text}\n`);
  return {
    line,
    async step(label, work) {
      const start = performance.now();
      try {
        const result = await work();
        line(`  ✓ ${label.padEnd(58)} ${seconds(performance.now() - start).padStart(8)}`);
        return result;
      } catch (error) {
        line(`  ✗ ${label.padEnd(58)} ${seconds(performance.now() - start).padStart(8)}`);
        throw error;
      }
    },
  };
}
