import { type Alert, occurred } from '../alert.ts';

const lag = 'payments_archive_lag_seconds{service_name="archive",instance="a"}';
const deliveriesLag = 'payments_archive_deliveries_lag_seconds{service_name="archive",instance="a"}';
const alarm = (name: string): string => `payments_alarms_total{service_name="archive",alarm="${name}"}`;

/** Causes for which the archive is not what the log is. Nothing else waits for it, so no one is woken for a delay. */
export const archiveAlerts: readonly Alert[] = [
  {
    name: 'ArchiveBehind',
    severity: 'ticket',
    expr: 'min(payments_archive_lag_seconds) > 60 or absent(payments_archive_lag_seconds)',
    for: '5m',
    summary: 'Events have waited for more than a minute to be archived, or no archive runs.',
    fires: { series: { [lag]: '5+0x5 400+60x20' }, at: '20m', labels: {} },
    quiet: { series: { [lag]: '20+0x30' }, at: '20m' },
    nearMiss: { series: { [lag]: '5+0x5 90+0x3 5+0x30' }, at: '20m' },
  },
  {
    // Postgres has an ended delivery for a day at least, so an hour leaves time to fix what keeps them.
    name: 'DeliveriesUnarchived',
    severity: 'ticket',
    expr: 'min(payments_archive_deliveries_lag_seconds) > 3600',
    for: '5m',
    summary: 'How webhooks ended in the last hour is not archived.',
    fires: { series: { [deliveriesLag]: '300+0x5 3700+60x30' }, at: '30m', labels: {} },
    quiet: { series: { [deliveriesLag]: '300+0x30', [lag]: '4000+60x30' }, at: '20m' },
    nearMiss: { series: { [deliveriesLag]: '300+0x5 3700+0x3 300+0x30' }, at: '20m' },
  },
  {
    name: 'ArchiveDiverged',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="archive_diverged"}', '1h', 'service_name'),
    summary: 'The log does not go on where the archive ends: one of the two has lost events.',
    fires: { series: { [alarm('archive_diverged')]: '0+0x5 1+0x30' }, at: '20m', labels: { service_name: 'archive' } },
    quiet: { series: { [alarm('archive_diverged')]: '0+0x30', [alarm('archive_damaged')]: '0+1x30' }, at: '20m' },
    // More events than the archive keeps up with.
    oneTenant: { series: { [alarm('archive_diverged')]: '0+0x30', [lag]: '5+60x30' }, at: '20m' },
  },
  {
    name: 'ArchiveDamaged',
    severity: 'ticket',
    expr: occurred('payments_alarms_total{alarm="archive_damaged"}', '1h', 'service_name'),
    summary: 'A file of the archive is not what its manifest says: it was changed, or its disk is failing.',
    fires: { series: { [alarm('archive_damaged')]: '0+0x5 1+0x30' }, at: '20m', labels: { service_name: 'archive' } },
    quiet: { series: { [alarm('archive_damaged')]: '0+0x30', [alarm('archive_diverged')]: '0+1x30' }, at: '20m' },
  },
];
