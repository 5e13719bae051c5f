import { toJson } from '@pf/contracts';

/** What goes on until it is ended writes line by line: JSON documents for programs, one a line, or text for people. */
export interface Lines {
  line(json: object, text: () => string): void;
}

export const createLines = (json: boolean, write: (text: string) => void): Lines => ({
  line: (value, text) => write(`${json ? toJson(value) : text()}\n`),
});

/** The time of day, UTC, to the second. */
export const clock = (at: Date): string => at.toISOString().slice(11, 19);
