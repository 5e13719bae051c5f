/** What the supervisor says to the person at the terminal. Everything goes to stderr: stdout is for results. */
export interface Terminal {
  readonly line: (text: string) => void;
  /** Runs a step; says what it did and how long it took, also when it failed. */
  readonly step: <T>(label: string, work: () => Promise<T>) => Promise<T>;
}

/** @returns seconds as people read them: "0.42 s", "12.3 s" */
const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

/** @returns the message of anything that was thrown */
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
