import { InvalidArgumentError } from 'commander';

/** With a `T` or, as `pf` and DuckDB print it, a space; in UTC unless it names another offset. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/i;

/** A moment as an option's value. */
export function timeOf(text: string): Date {
  const [, day = '', time = '00:00', zone = 'Z'] = TIME.exec(text) ?? [];
  const at = new Date(`${day}T${time}${zone.toUpperCase().replace('UTC', 'Z')}`);
  // JavaScript takes February 30 for March 2.
  const hasDay = !Number.isNaN(at.getTime()) && new Date(day).toISOString().startsWith(day);
  if (!hasDay) throw new InvalidArgumentError('It is no time. Write it in UTC: 2026-11-23 or 2026-11-23T12:00:00Z.');
  return at;
}
