import { appendFileSync } from 'node:fs';

/** The variable with the file of complaints. */
export const COMPLAINTS = 'RUNBOOK_COMPLAINTS';
/** The variable with the place of the block that is run. */
export const PLACE = 'RUNBOOK_PLACE';

/** For a program that a block runs: notes in one line what is wrong with it. */
export function complain(text: string): void {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' | ');
  appendFileSync(process.env[COMPLAINTS] ?? '', `${process.env[PLACE]}: ${line}\n`);
}
