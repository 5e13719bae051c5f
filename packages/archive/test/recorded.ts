import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { encodeEvent, parseEvent } from '@pf/contracts';
import type { EndedDelivery } from '@pf/database';
import { type Address, type Landing, PUBLIC_EVENT_TYPES } from '@pf/domain';
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

/** Sends the transaction of the extra payment for its payer. */
const RELAYER = '0x4e1A4e1a00000000000000000000000000000004' as Address;
/** As this version writes it: with what the transaction has cost, in the first event of its landing. */
function withFee(line: string): string {
  const event = parseEvent(line);
  const first: readonly string[] = [
    'intent.confirmed',
    'confirmation_restored',
    'intent.extra_payment',
    'intent.mismatched_payment',
  ];
  const data = event.data as { readonly landing: Landing | null };
  const { landing } = data;
  // Of a simulated payment there is no landing.
  if (!first.includes(event.type) || landing === null) return line;
  const payer = event.type === 'intent.extra_payment' ? RELAYER : landing.transfer.from;
  const fee = { payer, amount: 2_100_000_000_000n + BigInt(event.version), tokenAddress: null };
  return encodeEvent({ ...event, data: { ...data, landing: { ...landing, fee } } });
}

/** Payments of every kind: on time, late, extra, mismatched, refunded, lost. One history of each intent. */
export const RECORDED_PAYMENTS: readonly string[] = readFileSync(path.join(FIXTURES, 'payments/events.ndjson'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map(withFee);

/** Events of deposits. */
export const RECORDED_DEPOSITS: readonly string[] = readFileSync(path.join(FIXTURES, 'deposits/events.ndjson'), 'utf8')
  .split('\n')
  .filter((line) => line !== '');

/**
 * The webhooks of these payments, to one URL, in the order of their ends: it fails now and then, and was removed before
 * the last two.
 */
export function deliveriesOfPayments(): readonly EndedDelivery[] {
  const events = RECORDED_PAYMENTS.map((line) => parseEvent(line)).filter(({ type }) =>
    (PUBLIC_EVENT_TYPES as readonly string[]).includes(type),
  );
  return events
    .map((event, n): EndedDelivery => {
      const [isFirst, isLost] = [n % 6 !== 0, n % 12 === 0];
      const isRemoved = n >= events.length - 2;
      const createdAt = new Date(event.at);
      const attempts = isRemoved ? 0 : isFirst ? 1 : isLost ? 10 : 2;
      const endedAt = new Date(createdAt.getTime() + (isFirst ? 250 : isLost ? 259_200_000 : 60_400));
      return {
        id: `whd_${String(n).padStart(3, '0')}`,
        eventId: event.eventId,
        eventType: event.type,
        intentId: event.intentId,
        accountId: event.accountId,
        livemode: event.livemode,
        endpointId: 'we_1',
        outcome: isRemoved ? 'cancelled' : attempts === 10 ? 'failed' : 'delivered',
        attempts,
        responseStatus: isRemoved ? null : attempts === 10 ? 503 : 200,
        createdAt,
        firstAttemptAt: isRemoved ? null : createdAt,
        lastAttemptAt: isRemoved ? null : endedAt,
        endedAt,
      };
    })
    .sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime() || (a.id < b.id ? -1 : 1));
}
