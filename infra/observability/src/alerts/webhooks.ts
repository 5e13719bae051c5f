import { type Alert, occurred } from '../alert.ts';

const age = (instance: string): string =>
  `payments_deliveries_due_age_seconds{service_name="webhook",instance="${instance}"}`;
const attempts = (outcome: string): string =>
  `payments_delivery_attempts_total{service_name="webhook",outcome="${outcome}"}`;

const slots = (of: 'used' | 'waiting', labels: string): string =>
  `payments_delivery_slots_${of}{service_name="webhook",${labels}}`;
const LIVE = 'livemode="true",pace="quick"';

const failedSteps = 'payments_deliveries_failed_steps_total{service_name="webhook",of="replay"}';

const SECRET_ALARM = 'payments_alarms_total{service_name="webhook",alarm="unreadable_secret"}';

/** Causes for which integrators do not hear of their payments. */
export const webhookAlerts: readonly Alert[] = [
  {
    name: 'DeliveriesOverdue',
    severity: 'page',
    expr: 'max(payments_deliveries_due_age_seconds) > 120',
    for: '2m',
    summary: 'A webhook delivery has been due for {{ $value | humanizeDuration }} without being attempted.',
    fires: { series: { [age('a')]: '0 0 0+60x10', [age('b')]: '0 0 0+60x10' }, at: '10m', labels: {} },
    quiet: {
      series: { [age('a')]: '0 30 60 0 5 90 0 10 0 60 0 0', [age('b')]: '0 30 60 0 5 90 0 10 0 60 0 0' },
      at: '10m',
    },
    // A slow receiver with a backlog of its own.
    oneTenant: { series: { [age('a')]: '60+0x20', [age('b')]: '60+0x20' }, at: '10m' },
  },
  {
    name: 'DeliverySlotsFull',
    severity: 'ticket',
    // A room that was full at each scrape: for a moment each may be.
    expr: 'max by (livemode, pace) (min_over_time(payments_delivery_slots_waiting[10m])) > 0',
    for: '5m',
    summary: `{{ $value }} webhook URLs or more (livemode {{ $labels.livemode }}, {{ $labels.pace }}) \
have waited for a slot for minutes: a process has all of theirs in use.`,
    fires: {
      series: { [slots('waiting', `${LIVE},instance="a"`)]: '0+0x5 3+0x30', [slots('used', LIVE)]: '0+0x5 400+0x30' },
      at: '25m',
      labels: { livemode: 'true', pace: 'quick' },
    },
    // A burst every few minutes.
    quiet: { series: { [slots('waiting', LIVE)]: '0 40 5 0 20 0 0 9 0 60 0 0 30 2 0 0 7 0 50 0 0' }, at: '20m' },
    nearMiss: { series: { [slots('waiting', LIVE)]: '0+0x5 60+0x11 0+0x10' }, at: '17m' },
    // Its most of each room: its other URLs wait for the account.
    oneTenant: {
      series: {
        [slots('used', LIVE)]: '32+0x30',
        [slots('waiting', LIVE)]: '0+0x30',
        [slots('used', 'livemode="true",pace="slow"')]: '16+0x30',
        [slots('waiting', 'livemode="true",pace="slow"')]: '0+0x30',
      },
      at: '25m',
    },
  },
  {
    name: 'DeliveriesFailing',
    severity: 'ticket',
    expr: [
      'sum(increase(payments_delivery_attempts_total{outcome!="delivered"}[15m])) > 20',
      'and sum(rate(payments_delivery_attempts_total{outcome!="delivered"}[15m]))',
      '/ sum(rate(payments_delivery_attempts_total[15m])) > 0.5',
    ].join('\n'),
    for: '10m',
    summary: `Most attempts to deliver webhooks fail, {{ $value | humanize }} in 15 minutes: \
our egress or a large receiver is broken.`,
    fires: { series: { [attempts('delivered')]: '0+5x40', [attempts('retried')]: '0+10x40' }, at: '35m', labels: {} },
    quiet: { series: { [attempts('delivered')]: '0+50x40', [attempts('retried')]: '0+10x40' }, at: '35m' },
    nearMiss: { series: { [attempts('delivered')]: '0+0x40', [attempts('retried')]: '0+1x40' }, at: '35m' },
  },
  {
    name: 'DeliveriesGivenUp',
    severity: 'ticket',
    expr: occurred('payments_delivery_attempts_total{outcome=~"failed|gone"}', '1h', 'outcome'),
    summary: 'Deliveries ended without success ({{ $labels.outcome }}): an integrator has missed events.',
    fires: { series: { [attempts('failed')]: '0+0x5 1+0x30' }, at: '20m', labels: { outcome: 'failed' } },
    quiet: { series: { [attempts('failed')]: '4+0x100', [attempts('retried')]: '0+1x100' }, at: '90m' },
  },
  {
    name: 'ReplaysFailing',
    severity: 'ticket',
    expr: 'sum by (of) (increase(payments_deliveries_failed_steps_total[1h])) > 4',
    for: '30m',
    summary: 'Steps of a {{ $labels.of }} fail again and again: an integrator does not get the events it asked for.',
    fires: { series: { [failedSteps]: '0 1 2 3 4+0.2x100' }, at: '100m', labels: { of: 'replay' } },
    // Postgres was unavailable for some minutes.
    quiet: { series: { [failedSteps]: '0+0x5 1 2 3 3+0x100' }, at: '100m' },
    nearMiss: { series: { [failedSteps]: '0+0x5 4+0x100' }, at: '100m' },
  },
  {
    name: 'SecretUnreadable',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="unreadable_secret"}', '1h', 'service_name'),
    summary: 'Secrets cannot be read: the webhooks of their accounts wait.',
    fires: {
      series: { [SECRET_ALARM]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'webhook' },
    },
    quiet: { series: { [SECRET_ALARM]: '0+0x30' }, at: '20m' },
    // All its URLs fail, and are disabled.
    oneTenant: {
      series: {
        [SECRET_ALARM]: '0+0x30',
        [attempts('failed')]: '0+50x30',
        'payments_endpoints_disabled_total{service_name="webhook",reason="failing"}': '0+16x30',
      },
      at: '20m',
    },
  },
  {
    name: 'EndpointsDisabled',
    severity: 'ticket',
    expr: occurred('payments_endpoints_disabled_total', '1h', 'reason'),
    summary: 'Webhook URLs were disabled ({{ $labels.reason }}): an integrator receives no events there.',
    fires: {
      series: { 'payments_endpoints_disabled_total{service_name="webhook",reason="failing"}': '0+0x5 1+0x30' },
      at: '20m',
      labels: { reason: 'failing' },
    },
    quiet: {
      series: { 'payments_endpoints_disabled_total{service_name="webhook",reason="failing"}': '0+0x30' },
      at: '20m',
    },
  },
];
