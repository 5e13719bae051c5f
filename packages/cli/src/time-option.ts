import { InvalidArgumentError } from 'commander';

/** A moment in UTC, as an option's value. */
export function timeOf(text: string): Date {
  const time = new Date(/[Zz]|[+-]\d\d:?\d\d$/.test(text) || !text.includes('T') ? text : `${text}Z`);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('Write it as 2026-11-23 or 2026-11-23T12:00:00Z.');
  return time;
}
