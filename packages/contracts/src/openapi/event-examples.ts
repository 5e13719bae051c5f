import {
  type AccountId,
  type Address,
  type ChainId,
  type CommandId,
  decideDeposit,
  decideDepositCommand,
  type Deposit,
  type DepositCommand,
  type DepositCommandType,
  type DepositEventType,
  type DepositId,
  type DepositObservation,
  type DepositTransition,
  depositView,
  type EventData,
  evolve,
  type IntentEvent,
  type IntentId,
  type Landing,
  type PaymentIntent,
  type PublicEventType,
  type PublicIntent,
  type Reference,
  type TokenAddress,
  type TransactionHash,
  view,
} from '@pf/domain';
import { API_VERSIONS } from '../endpoints.ts';
import { type EndpointEventType, endpointDisabledEvent, endpointTestEvent } from '../endpoint-events.ts';
import { eventIdOf } from '../ids.ts';
import { EVENT_SCHEMA_VERSION, webhookBody } from '../messages.ts';
import { paymentLinkEvent, type PaymentLinkEventType, type ShownPaymentLink } from '../payment-links.ts';

/** What examples have in common. */
export const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address;
export const FULFILLER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' as Address;
export const CREATED_AT = '2026-11-21T12:00:00.000Z';
const INTENT = 'pi_5mUj8xNgYq3vWJ2hTfKd7' as IntentId;
const OTHER_INTENT = 'pi_7nVk9yPhZr4wXK3iUgLe8' as IntentId;
const ACCOUNT = 'acct_5mUj8xNgYq3vWJ2hTfKd7' as AccountId;
const ENDPOINT = { id: 'whe_5mUj8xNgYq3vWJ2hTfKd7', url: 'https://shop.example/webhooks' };
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as TokenAddress;
const REFERENCE = `0x${'5e'.repeat(32)}` as Reference;
/** Of a payment whose reference is not proven. */
const UNPROVEN = `0x${'00'.repeat(32)}` as Reference;
const AMOUNT = 12_500_000n;
const MORE = 13_000_000n;
const HASH = `0x${'a1'.repeat(32)}` as TransactionHash;
const SECOND_HASH = `0x${'b2'.repeat(32)}` as TransactionHash;

/** An event, and how many seconds after the intent was created it happens. */
type Step = { readonly [Type in PublicEventType]: readonly [Type, EventData[Type], seconds: number] }[PublicEventType];

const landing = (hash: TransactionHash, amount = AMOUNT, reference = REFERENCE): Landing => ({
  hash,
  transfer: {
    tokenAddress: USDC,
    from: FULFILLER,
    to: REQUESTOR,
    amount,
    reference,
    block: 34_000_000n,
    blockHash: `0x${'b1'.repeat(32)}`,
    index: '0',
  },
});
const request = {
  accountId: ACCOUNT,
  livemode: false,
  refundOf: null,
  idempotencyKey: 'order-1042',
  chain: 'eip155:84532' as ChainId,
  token: 'USDC',
  tokenAddress: USDC,
  decimals: 6,
  amount: '12.50',
  amountBaseUnits: AMOUNT,
  requestor: REQUESTOR,
  fulfiller: null,
  direction: 'request',
  reference: REFERENCE,
  ttlSeconds: 86_400,
  metadata: { order: '1042' },
} as const;
const created: Step = ['intent.created', request, 0];
const accepting: Step = ['intent.created', { ...request, accept: 'at_least' }, 0];
const expired: Step = ['intent.expired', { pendingAtExpiry: false, simulated: false }, 86_400];
const pending: Step = ['intent.pending', { hash: HASH, fulfiller: FULFILLER, simulated: false }, 60];
const paid = { hash: HASH, fulfiller: FULFILLER, landing: landing(HASH), simulated: false };
const confirmed: Step = ['intent.confirmed', { ...paid, late: null }, 64];

/** How an intent comes to an event of each type. */
const HISTORIES: { readonly [Type in PublicEventType]: readonly Step[] } = {
  'intent.created': [created],
  'intent.detected': [created, ['intent.detected', {}, 30]],
  'intent.pending': [created, pending],
  'intent.confirmed': [created, pending, confirmed],
  'intent.finalized': [created, pending, confirmed, ['intent.finalized', { ...paid }, 900]],
  'intent.failed': [created, pending, ['intent.failed', { hash: HASH, reason: 'it reverted', simulated: false }, 64]],
  'intent.expired': [created, expired],
  'intent.cancelled': [created, ['intent.cancelled', { cause: 'requested' }, 120]],
  'intent.retry_required': [
    created,
    pending,
    ['intent.retry_required', { hash: HASH, proof: 'its nonce is used', simulated: false }, 300],
  ],
  'intent.extra_payment': [
    created,
    pending,
    confirmed,
    ['intent.extra_payment', { landing: landing(SECOND_HASH) }, 180],
  ],
  'intent.mismatched_payment': [
    created,
    ['intent.mismatched_payment', { landing: landing(HASH, 12_400_000n), amount: '12.40', differs: ['amount'] }, 90],
  ],
  'intent.mismatch_withdrawn': [
    created,
    [
      'intent.mismatched_payment',
      { landing: landing(HASH, AMOUNT, UNPROVEN), amount: '12.50', differs: ['reference'] },
      90,
    ],
    ['intent.mismatch_withdrawn', { landing: landing(HASH) }, 120],
  ],
  'intent.payment_claimed': [
    created,
    [
      'intent.mismatched_payment',
      { landing: landing(HASH, AMOUNT, UNPROVEN), amount: '12.50', differs: ['reference'], claimed: true },
      90,
    ],
    ['intent.payment_claimed', { hash: HASH, intentIds: [OTHER_INTENT] }, 120],
  ],
  'intent.late_payment': [
    created,
    expired,
    ['intent.confirmed', { ...paid, late: 'expired' }, 86_460],
    ['intent.late_payment', { landing: landing(HASH), late: 'expired' }, 86_460],
  ],
  'intent.overpaid': [
    accepting,
    pending,
    ['intent.confirmed', { ...paid, landing: landing(HASH, MORE), late: null, amount: '13' }, 64],
    ['intent.finalized', { ...paid, landing: landing(HASH, MORE) }, 900],
    ['intent.overpaid', { hash: HASH, amount: '0.5', amountBaseUnits: MORE - AMOUNT }, 900],
  ],
};

const ENDPOINT_EVENTS: Readonly<Record<EndpointEventType, { readonly body: string }>> = {
  'webhook_endpoint.disabled': endpointDisabledEvent({
    ...ENDPOINT,
    livemode: false,
    disabledAt: new Date('2026-11-26T12:00:00.000Z'),
    disabledBy: 'failing',
    failingSince: new Date(CREATED_AT),
  }),
  'webhook_endpoint.test': endpointTestEvent(ENDPOINT, { livemode: false, at: new Date(CREATED_AT) }),
};

const OPEN_LINK: ShownPaymentLink = {
  id: 'pl_5mUj8xNgYq3vWJ2hTfKd7',
  amount: '12.50',
  offers: [{ chain: 'eip155:84532' as ChainId, token: 'USDC', tokenAddress: USDC, requestor: REQUESTOR }],
  state: 'open',
  intents: [],
  paidBy: null,
  metadata: { order: '1042' },
  ttlSeconds: 86_400,
  expiresAt: '2026-11-22T12:00:00.000Z',
  createdAt: CREATED_AT,
  paidAt: null,
  cancelledAt: null,
  livemode: false,
};
const PAID_AT = '2026-11-21T12:01:04.000Z';
const PAID_LINK: ShownPaymentLink = {
  ...OPEN_LINK,
  state: 'paid',
  intents: [{ offer: 0, intentId: INTENT, paid: true, createdAt: CREATED_AT }],
  paidBy: INTENT,
  paidAt: PAID_AT,
};
const LINK_EVENTS: Readonly<Record<PaymentLinkEventType, { readonly body: string }>> = {
  'payment_link.paid': paymentLinkEvent('payment_link.paid', PAID_LINK, new Date(PAID_AT), INTENT),
  'payment_link.extra_payment': paymentLinkEvent(
    'payment_link.extra_payment',
    PAID_LINK,
    new Date('2026-11-21T12:02:00.000Z'),
    INTENT,
  ),
  'payment_link.cancelled': paymentLinkEvent(
    'payment_link.cancelled',
    { ...OPEN_LINK, state: 'cancelled', cancelledAt: PAID_AT },
    new Date(PAID_AT),
  ),
  'payment_link.expired': paymentLinkEvent(
    'payment_link.expired',
    { ...OPEN_LINK, state: 'expired' },
    new Date(OPEN_LINK.expiresAt),
  ),
};

/** The body of the last event of a history: made by the code that makes every webhook. */
function bodyAfter(history: readonly Step[]): object {
  let intent: PaymentIntent | undefined;
  let body: string | null = null;
  for (const [type, data, seconds] of history) {
    const version: number = (intent?.version ?? 0) + 1;
    const at = Date.parse(CREATED_AT) + seconds * 1_000;
    intent = evolve(intent, { type, intentId: INTENT, version, at, data } as IntentEvent);
    body = webhookBody({
      eventId: eventIdOf(INTENT, version),
      type,
      schemaVersion: EVENT_SCHEMA_VERSION,
      intentId: INTENT,
      version,
      accountId: ACCOUNT,
      livemode: false,
      commandId: null,
      at: new Date(at).toISOString(),
      trace: { traceparent: null, requestId: null },
      data,
      intent: view(intent),
    });
  }
  return JSON.parse(body ?? '') as object;
}

const DEPOSIT = 'dp_5mUj8xNgYq3vWJ2hTfKd7' as DepositId;
const ARRIVAL = {
  hash: HASH,
  index: '0',
  block: 34_000_000n,
  blockHash: `0x${'b1'.repeat(32)}`,
  tokenAddress: USDC,
  token: { symbol: 'USDC', decimals: 6 },
  from: FULFILLER,
  to: REQUESTOR,
  amount: AMOUNT,
  reference: null,
  at: Date.parse(CREATED_AT),
} as const;
const observedDeposit = (level: 'confirmed' | 'finalized'): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_landed',
  depositId: DEPOSIT,
  data: {
    accountId: ACCOUNT,
    livemode: false,
    chain: 'eip155:84532' as ChainId,
    level,
    reason: 'no_reference',
    intentId: null,
    arrival: ARRIVAL,
  },
});
const lostDeposit: DepositObservation = {
  kind: 'deposit',
  type: 'deposit_lost',
  depositId: DEPOSIT,
  data: { hash: HASH, place: ARRIVAL },
};

const withdrawnDeposit: DepositObservation = {
  kind: 'deposit',
  type: 'deposit_withdrawn',
  depositId: DEPOSIT,
  data: { hash: HASH, place: ARRIVAL, intentId: INTENT },
};

const act = (type: DepositCommandType): DepositCommand => ({
  ...(type === 'assign_deposit' ? { type, intentId: INTENT } : { type }),
  kind: 'deposit_command',
  commandId: '019abcde-0000-7000-8000-000000000000' as CommandId,
  depositId: DEPOSIT,
  accountId: ACCOUNT,
  livemode: false,
});
const decidedBy = (input: DepositObservation | DepositCommand, at: number, before: Deposit | undefined) => {
  if (input.kind === 'deposit') return decideDeposit(input, at, before);
  const decision = decideDepositCommand(input, at, before);
  return decision.kind === 'accepted' ? decision.transition : null;
};

/** The bodies of a deposit that is seen, and then final, undone, the payment of an intent, ignored, reopened … */
const DEPOSIT_EXAMPLES = Object.fromEntries(
  [
    [observedDeposit('confirmed')],
    [observedDeposit('confirmed'), observedDeposit('finalized')],
    [observedDeposit('confirmed'), lostDeposit],
    [observedDeposit('confirmed'), withdrawnDeposit],
    [observedDeposit('confirmed'), act('ignore_deposit')],
    [observedDeposit('confirmed'), act('ignore_deposit'), act('reopen_deposit')],
    [observedDeposit('confirmed'), act('assign_deposit')],
    [observedDeposit('confirmed'), act('assign_deposit'), act('unassign_deposit')],
  ].map((history) => {
    const last = history.reduce<DepositTransition | null>(
      (before, input, place) => decidedBy(input, Date.parse(CREATED_AT) + place * 1_000, before?.deposit) ?? before,
      null,
    );
    if (last === null) throw new Error('an example has an event');
    const { event, deposit } = last;
    const eventId = eventIdOf(DEPOSIT, event.version);
    const createdAt = new Date(event.at).toISOString();
    return [
      event.type,
      { eventId, type: event.type, createdAt, livemode: false, data: { deposit: depositView(deposit) } },
    ];
  }),
) as Record<DepositEventType, object>;

/** The body of a webhook of each type. */
export const EVENT_EXAMPLES: Readonly<
  Record<PublicEventType | PaymentLinkEventType | DepositEventType | EndpointEventType, object>
> = {
  ...DEPOSIT_EXAMPLES,
  ...(Object.fromEntries(Object.entries(HISTORIES).map(([type, history]) => [type, bodyAfter(history)])) as Record<
    PublicEventType,
    object
  >),
  ...(Object.fromEntries(
    // An event of an endpoint or a link has an id at random; that of an example does not change.
    Object.entries({ ...LINK_EVENTS, ...ENDPOINT_EVENTS }).map(([type, { body }]) => [
      type,
      { ...(JSON.parse(body) as object), eventId: eventIdOf(INTENT, 1) },
    ]),
  ) as Record<PaymentLinkEventType | EndpointEventType, object>),
};

/** The intent as it was created. */
export const INTENT_EXAMPLE = (EVENT_EXAMPLES['intent.created'] as { readonly data: { readonly intent: PublicIntent } })
  .data.intent;

/** The headers of a webhook, but for its signatures. */
export const HEADER_EXAMPLES = {
  'webhook-id': eventIdOf(INTENT, 1),
  'webhook-timestamp': String(Date.parse(CREATED_AT) / 1_000),
  'X-PF-Event-Id': eventIdOf(INTENT, 1),
  'X-PF-Delivery-Id': 'whd_5mUj8xNgYq3vWJ2hTfKd7',
  'X-PF-Attempt': '1',
  'X-PF-Api-Version': API_VERSIONS[0],
} as const;
