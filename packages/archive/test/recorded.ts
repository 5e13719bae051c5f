import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { LogRecord } from '@pf/event-log';

const FIXTURES = path.join(import.meta.dirname, '../../contracts/test/evolution/fixtures');

/** Events that the service has really written, of every version of it. */
const RECORDED_EVENTS: readonly string[] = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => path.basename(name) === 'events.ndjson')
  .sort()
  .flatMap((name) => readFileSync(path.join(FIXTURES, name), 'utf8').split('\n'))
  .filter((line) => line !== '');

/** A record of a log in which every second offset is a transaction's marker. */
export const recordAt = (partition: number, index: number, value: string | null = eventAt(index)): LogRecord => ({
  topic: 'intent.events',
  partition,
  offset: BigInt(2 * index),
  timestamp: Date.parse('2026-11-23T12:00:00Z') + index,
  key: value === null ? null : (/"intentId":"(pi_\w+)"/.exec(value)?.[1] ?? null),
  value,
  headers: {},
});
/** Different for each index, as the events of a log are. */
const eventAt = (index: number): string => {
  const line = RECORDED_EVENTS[index % RECORDED_EVENTS.length] ?? '';
  return line.replace(/"eventId":"[^"]*"/, `"eventId":"evt_${index}"`);
};

/** The same on another day. */
export const onDay = (day: string, record: LogRecord): LogRecord => ({
  ...record,
  value: record.value?.replace(/"at":"\d{4}-\d\d-\d\dT/, `"at":"${day}T`) ?? null,
});

/** Payments of every kind: on time, late, extra, mismatched, refunded, lost. One history of each intent. */
export const RECORDED_PAYMENTS: readonly string[] = readFileSync(path.join(FIXTURES, 'payments/events.ndjson'), 'utf8')
  .split('\n')
  .filter((line) => line !== '');
