/** The demo's output on stdout; without styles when stdout is not a terminal. */
const styled = (code: number, text: string): string =>
  process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text;
export const bold = (text: string): string => styled(1, text);
export const dim = (text: string): string => styled(2, text);
export const say = (text = ''): void => console.log(text);

/** Prints a line for each step: when it ended, in milliseconds since the beginning, and how long it took. */
export interface Timeline {
  step(what: string, result: string): void;
  /** Milliseconds since the beginning. */
  elapsed(): number;
}

export function timeline(): Timeline {
  const began = performance.now();
  let last = began;
  return {
    step(what, result) {
      const now = performance.now();
      say(
        `${`${Math.round(now - began)} ms`.padStart(9)} ${dim(`+${Math.round(now - last)}`.padStart(6))}  ` +
          `${what.padEnd(30)} ${result}`,
      );
      last = now;
    },
    elapsed: () => performance.now() - began,
  };
}

/** @param units base units of a token with 6 decimals: the demo uses no others */
export const money = (units: bigint): string => `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`;
