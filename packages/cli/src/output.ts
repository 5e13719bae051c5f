import { withUnseenShown } from '@pf/contracts/unseen';

/** Where a command's answer goes: one JSON document for programs, or lines for people. */
export interface Output {
  /** The whole answer; called once. `text` is made only where a person reads. */
  answer(json: unknown, text: () => string): void;
}

export const createOutput = (json: boolean, write: (text: string) => void): Output => ({
  answer: (value, text) => write(`${json ? JSON.stringify(value, null, 2) : text()}\n`),
});

/**
 * What may go to a terminal: control characters, and others that are not seen or turn the direction, as `\\uXXXX`,
 * which JSON takes for the same. Accounts choose their URLs, names and metadata, and a terminal obeys what it is sent.
 */
export const printable = (text: string): string => withUnseenShown(text, '\n\t');

/** Columns aligned to the left, two spaces apart; the first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A moment as people read it: UTC, to the second. */
export const moment = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
