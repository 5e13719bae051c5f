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

/** A wallet that the account does not have: a transfer with the intent's reference went there. */
const STRANGER = '0x57Ea60000000000000000000000000000000Face' as Address;
/**
 * Amounts of intents, in USDC, other than those that were recorded. So no sum of some payments is also the sum of
 * others: a query that counts what it should not has another result.
 */
const AMOUNTS: Readonly<Record<string, string>> = {
  pi_Q73tR3Bt6vZNRKQrshteA: '17.20',
  pi_VLtf6Sp63BduoSNiYEcgp: '2.05',
  pi_Tnfa3TjWsNf28fgyrQ5bE: '40.10',
  pi_SYqNWi5stnK5SK6EbQMN8: '6.30',
  pi_Qq11UmrY9m2r5mEqvDBP3: '9.40',
  pi_PGDXL1LJKEKHTW3nJh7jM: '9.40',
};

const linesOf = (recording: string): readonly string[] =>
  readFileSync(path.join(FIXTURES, recording, 'events.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
/** Events of deposits. */
export const RECORDED_DEPOSITS = linesOf('deposits');
/** Events of an intent that more than its amount has paid twice: a reorg has undone the first payment. */
export const RECORDED_AT_LEAST = linesOf('at-least');
const PAYMENTS = linesOf('payments').map(withFee);

const unitsOf = (amount: string): string => String(Math.round(Number(amount) * 1e6));
const withAmount = (line: string, from: string, to: string): string =>
  line.replaceAll(`"${from}"`, `"${to}"`).replaceAll(`"${unitsOf(from)}"`, `"${unitsOf(to)}"`);

/** After a mismatched payment of its intent: another, to a wallet that is not the requestor's. */
function withMisdirected(line: string): readonly string[] {
  const event = parseEvent(line);
  if (event.type !== 'intent.mismatched_payment') return [line];
  const { landing } = event.data as { readonly landing: Landing };
  const hash = landing.hash.replaceAll('ad', 'ab');
  const transfer = { ...landing.transfer, to: STRANGER, amount: 8_880_000n };
  return [
    line,
    encodeEvent({
      ...event,
      eventId: `${event.eventId}2`,
      version: event.version + 1,
      data: { landing: { ...landing, hash, transfer }, amount: '8.88', differs: ['recipient', 'amount'] },
    }),
  ];
}

/** Payments of every kind: on time, late, extra, mismatched, refunded, lost. One history of each intent. */
export const RECORDED_PAYMENTS: readonly string[] = PAYMENTS.map((line) => {
  const { intentId } = parseEvent(line);
  const amount = AMOUNTS[intentId];
  return amount === undefined ? line : withAmount(line, '12.50', amount);
}).flatMap(withMisdirected);

/** The same of another account, in live mode, with other amounts. */
export const OTHER_ACCOUNT = 'acct_other';
export const OTHERS_PAYMENTS: readonly string[] = PAYMENTS.map((line) =>
  withAmount(withAmount(line, '12.50', '503.25'), '13', '1604.5')
    .replaceAll(/"acct_\w+"/g, `"${OTHER_ACCOUNT}"`)
    .replaceAll('"livemode":false', '"livemode":true')
    .replaceAll(/"pi_(.)\w/g, '"pi_$1z')
    .replaceAll(/"evt_\w/g, '"evt_z')
    .replaceAll(/"(0x[0-9a-f]{62})[0-9a-f]{2}"/g, '"$1ff"'),
);

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
