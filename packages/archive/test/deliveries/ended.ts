import type { DeliveryPlace, EndedDelivery } from '@pf/database';

/** A delivery that ended at a time of day of 2026-11-25. */
export const ended = (n: number, change: Partial<EndedDelivery> = {}): EndedDelivery => {
  const endedAt = new Date(Date.parse('2026-11-25T12:00:00Z') + n * 1_000);
  return {
    id: `whd_${n}`,
    eventId: `evt_${n}`,
    eventType: 'intent.confirmed',
    intentId: `pi_${n}`,
    accountId: 'acct_1',
    livemode: false,
    endpointId: 'we_1',
    outcome: 'delivered',
    attempts: 1,
    responseStatus: 200,
    createdAt: new Date(endedAt.getTime() - 500),
    firstAttemptAt: endedAt,
    lastAttemptAt: endedAt,
    endedAt,
    ...change,
  };
};

/** Deliveries as the database has them: in the order of their ends. */
export class EndedInMemory {
  readonly rows: EndedDelivery[] = [];
  isAvailable = true;
  /** How many rows were read. */
  read = 0;
  until: Date | null = new Date('2030-01-01T00:00:00Z');

  look(): Promise<Date | null> {
    return this.isAvailable ? Promise.resolve(this.until) : Promise.reject(new Error('no database'));
  }
  page(after: DeliveryPlace | null, limit: number) {
    const isAfter = (one: DeliveryPlace): boolean =>
      after === null ||
      one.endedAt > after.endedAt ||
      (one.endedAt.getTime() === after.endedAt.getTime() && one.id > after.id);
    const deliveries = this.rows.filter(isAfter).slice(0, limit);
    this.read += deliveries.length;
    const last = deliveries.at(-1);
    return Promise.resolve({ deliveries, last: last ? { endedAt: last.endedAt, id: last.id } : null });
  }
}
