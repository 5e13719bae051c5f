import { INTENT_STATUSES, LATE_STATES, PAYMENT_TERMS, PUBLIC_EVENT_TYPES, type PublicDeposit } from '@pf/domain';
import { z } from 'zod';
import { must, word } from '../api/fields.ts';
import { pageLimit, pageQuery, pageResponse } from '../api/paging.ts';
import { DELIVERY_DAYS } from '../deliveries.ts';
import { publicDeposit } from '../deposits.ts';
import { intentEvent } from '../intent-events.ts';
import type { DashboardOperation } from './operation.ts';
import { type Role, ROLES } from './roles.ts';

/** How far back a summary looks, the present hour or day included, and how long its buckets are. */
export const SUMMARY_RANGES = {
  '24h': { bucket: 'hour', buckets: 24 },
  '7d': { bucket: 'day', buckets: 7 },
  '30d': { bucket: 'day', buckets: 30 },
} as const;
export type SummaryRange = keyof typeof SUMMARY_RANGES;
const RANGES = Object.keys(SUMMARY_RANGES) as [SummaryRange, ...SummaryRange[]];
/** A summary counts the newest intents of its range, and no more than these. */
export const SUMMARY_INTENTS_MAX = 1_000_000;
/** The time to confirm is that of the newest payments of the range: so many at most. */
export const SUMMARY_TIMED_MAX = 500;
/** Failed deliveries are counted up to here. */
export const SUMMARY_DELIVERIES_MAX = 1_000;

const time = z.iso.datetime({ precision: 3 });
const count = z.int().nonnegative();
/** A decimal in units of the token. */
const amount = z.string().regex(/^\d+(\.\d+)?$/);
const ms = z.int().nonnegative();
const token = { chain: z.string(), token: z.string(), tokenAddress: z.string() };
const paid = z.strictObject({ payments: count, amount });
const summary = z.strictObject({
  range: z.enum(RANGES),
  bucket: z.enum(['hour', 'day']),
  /** Intents created from here on are counted. */
  from: time,
  /** When they were counted. */
  to: time,
  /** False if the range has more intents than are counted: then `from` is later than the range begins. */
  complete: z.boolean(),
  /** Without refunds. */
  payments: z.strictObject({
    created: count,
    states: z.record(z.enum(INTENT_STATUSES), count),
    /** The paid ones of those that were paid, failed or expired, from 0 to 1; null if there are none. */
    successRate: z.number().min(0).max(1).nullable(),
  }),
  /** What was paid, of each token with a payment: to the account, by it, and back. */
  volume: z.array(z.strictObject({ ...token, received: paid, sent: paid, refunded: paid })),
  /** From an accepted submit to `intent.confirmed`, of payments that were submitted over the API. */
  timeToConfirm: z.strictObject({ payments: count, p50Ms: ms, p95Ms: ms }).nullable(),
  failures: z.strictObject({ payments: count, deliveries: count }),
  /** Oldest first, without gaps, by the time of creation; the last one is not over yet. */
  buckets: z.array(
    z.strictObject({
      at: time,
      created: count,
      paid: count,
      failed: count,
      expired: count,
      received: z.array(z.strictObject({ ...token, amount })),
    }),
  ),
});
export const summaryResponse = z.strictObject({
  summary,
  /** Null where it was made for this request. Otherwise payments may be missing, and a new one is made by then. */
  renewableInMs: z.int().min(1).nullable(),
});
export type Summary = z.output<typeof summary>;

/** What an account should look at, and what it can do about it. */
export const ATTENTION_ADVICE = {
  mismatched_payment:
    'It does not match the terms of the intent: `differs` lists which. Send it back to its sender, or settle the ' +
    'difference with the payer. The intent can still be paid until it expires.',
  extra_payment: 'The intent was already paid. Send this payment back to its sender.',
  late_payment: 'It arrived after the intent had ended. The intent is now confirmed: deliver, or refund it.',
  overpaid:
    'More arrived than the intent asks for, which it accepts: `amount` says by how much. Keep it if the payer meant ' +
    'it, such as a tip. Else refund the intent, and lower the refund to this amount before it is paid.',
  sanctioned_sender:
    'Its sender is on a sanctions list. Do not refund it, and do not deliver: ask the people responsible for ' +
    'compliance.',
  deposit:
    'It pays no intent: `reason` of the deposit says why. Assign it to the intent that it was meant for, of which ' +
    '`likelyIntents` may have one. Or ask its sender where to send it back (exchanges and bridges pay from wallets ' +
    "that are not their customers'), then ignore it.",
  endpoint_paused: 'Its deliveries wait. Resume it when its receiver is ready for them.',
  endpoint_disabled: 'It receives nothing. Fix its receiver, enable it, then replay what it has missed.',
  failed_delivery: 'It is not attempted again. See its attempts, fix the receiver, then resend it.',
} as const;
/** Of a mismatched payment that only a payer's word connects with its intent. */
export const CLAIMED_ADVICE =
  'A payer says that it was for this intent, and nothing on chain shows it. Where deposits are on, the same money is ' +
  'a deposit: assign that to the intent that it was for. Else deliver, or send it back to its sender, once.';
export type AttentionKind = keyof typeof ATTENTION_ADVICE;
const KINDS = Object.keys(ATTENTION_ADVICE) as [AttentionKind, ...AttentionKind[]];

/**
 * What is done when a person says so, and who may say so. A deposit is done when it is ignored, the others when the
 * endpoint or the delivery is repaired.
 */
export const ATTENTION_DONE_BY = {
  mismatched_payment: ['owner', 'developer', 'support'],
  extra_payment: ['owner', 'developer', 'support'],
  late_payment: ['owner', 'developer', 'support'],
  overpaid: ['owner', 'developer', 'support'],
  sanctioned_sender: ['owner'],
} as const satisfies Partial<Readonly<Record<AttentionKind, readonly Role[]>>>;
export type PaymentAttentionKind = keyof typeof ATTENTION_DONE_BY;
const ATTENTION_STATES = ['open', 'done'] as const;

/** As the payment API shows it. */
const deposit: z.ZodType<PublicDeposit> = publicDeposit;
const attention = z.strictObject({
  kind: z.enum(KINDS),
  id: z.string(),
  at: time,
  intentId: z.string().nullable(),
  /** The payment: null where there is none, or where it is not known. */
  payment: z
    .strictObject({
      chain: z.string(),
      txSignature: z.string(),
      sender: z.string(),
      recipient: z.string().nullable(),
      /** Null if the registry does not have it. */
      token: z.string().nullable(),
      tokenAddress: z.string().nullable(),
      amount: amount.nullable(),
      differs: z.array(z.enum(PAYMENT_TERMS)),
      late: z.enum(LATE_STATES).nullable(),
      /** Only a payer says that it was for the intent. */
      claimed: z.boolean(),
    })
    .nullable(),
  deposit: deposit.nullable(),
  /** Of a deposit: the unpaid intents that it may have been meant for, the likeliest first. Empty for other kinds. */
  likelyIntents: z.array(
    z.strictObject({
      id: z.string(),
      status: z.enum(INTENT_STATUSES),
      amount,
      /** What the deposit lacks of the amount, as where an exchange has taken a fee. Null: it can be assigned. */
      missing: amount.nullable(),
      createdAt: time,
    }),
  ),
  endpoint: z.strictObject({ id: z.string(), url: z.string() }).nullable(),
  delivery: z.strictObject({ id: z.string(), eventType: z.string() }).nullable(),
  /** In words: why a delivery has failed, or an endpoint was disabled. */
  reason: z.string().nullable(),
  /** What to do. */
  advice: z.string(),
  /** Who has marked it as done, and when; null while it is open. */
  done: z.strictObject({ at: time, by: z.strictObject({ id: z.string(), name: z.string().nullable() }) }).nullable(),
});
const attentionItemResponse = z.strictObject({ item: attention });
export const attentionResponse = z.strictObject({ attention: z.array(attention), ...pageResponse });
export type Attention = z.output<typeof attention>;

/** How many days the request log has. */
export const REQUEST_LOG_DAYS = 7;
/**
 * Requests of an account in one mode that each gateway records in a minute. Of those beyond it records one a second,
 * with how many before it have no record.
 */
export const RECORDED_PER_MINUTE = 600;
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

const request = z.strictObject({
  id: z.string(),
  /** When the response ended. */
  at: time,
  method: z.string(),
  /** The pattern of its path: `/v1/intents/{id}`. */
  route: z.string(),
  /** The path, cut off after 200 characters and without client secrets; null for requests to an earlier release. */
  path: z.string().nullable(),
  /** 499: the client disconnected before the response. */
  status: z.int(),
  errorCode: z.string().nullable(),
  /** The key that it was made with. */
  key: z.strictObject({ id: z.string(), hint: z.string().nullable(), name: z.string().nullable() }).nullable(),
  /** The person who made it in the dashboard. */
  person: z.strictObject({ id: z.string(), name: z.string().nullable() }).nullable(),
  /** The intent in its path, or the one that it created. */
  intentId: z.string().nullable(),
  durationMs: ms,
  /** The header `X-Request-Id` of its response. */
  requestId: z.string(),
  /** How many requests of the account, of any key, are not listed that were made before this one. */
  omitted: z.int(),
});
export const requestsResponse = z.strictObject({ requests: z.array(request), ...pageResponse });
export type LoggedRequest = z.output<typeof request>;

/** The events of so many intents of an account are listed: of the newest. */
export const EVENTS_INTENTS_MAX = 200;
const EVENTS_LIMIT = 50;
export const eventsResponse = z.strictObject({ events: z.array(intentEvent) });

/** The least time between two events of the stream of an account. */
export const NOTICE_GAP_MS = 2_000;

export const INSIGHT_OPERATIONS = {
  getSummary: {
    id: 'getSummary',
    method: 'get',
    path: '/accounts/{accountId}/{mode}/summary',
    tag: 'Insights',
    summary: 'Summarize the payments',
    description:
      'Summarizes the intents created in the last 24 hours, 7 days or 30 days (`range`, default `7d`): how many are ' +
      'in each state, the success rate, what was paid in each token, the time to confirm, and the same by hour or by ' +
      `day (UTC). The newest ${SUMMARY_INTENTS_MAX.toLocaleString('en-US')} intents are counted; \`complete\` is ` +
      `false if there are more. The time to confirm is that of the newest ${SUMMARY_TIMED_MAX} payments that were ` +
      'submitted over the API. Failed deliveries are counted up to ' +
      `${SUMMARY_DELIVERIES_MAX.toLocaleString('en-US')}. A summary that was slow to compute is returned again for a ` +
      'while: `to` is when it was computed.',
    access: ROLES,
    query: z.strictObject({
      range: z.enum(RANGES, must(`one of ${RANGES.join(', ')}`)).default('7d'),
    }),
    status: 200,
    response: summaryResponse,
    errors: [],
  },
  listEvents: {
    id: 'listEvents',
    method: 'get',
    path: '/accounts/{accountId}/{mode}/events',
    tag: 'Insights',
    summary: 'List the newest events',
    description:
      `The public events of the newest ${EVENTS_INTENTS_MAX} intents, newest first, as webhooks carry them; \`type\` ` +
      'selects one type. The whole history of an intent is at `GET /intents/{id}/events` of the payment API.',
    access: ROLES,
    query: z.strictObject({
      limit: pageLimit(EVENTS_LIMIT),
      type: z.enum(PUBLIC_EVENT_TYPES, must(`one of ${PUBLIC_EVENT_TYPES.join(', ')}`)).optional(),
    }),
    status: 200,
    response: eventsResponse,
    errors: [],
  },
  followAccount: {
    id: 'followAccount',
    method: 'get',
    type: 'text/event-stream',
    path: '/accounts/{accountId}/{mode}/stream',
    tag: 'Insights',
    summary: 'Follow the account',
    description:
      'A stream of server-sent events that tells when to read again: an event `changed` when it starts, and then ' +
      'whenever a payment, a deposit or a webhook delivery of the account has changed, at most one every ' +
      `${NOTICE_GAP_MS / 1_000} s. Its data is an empty object. The stream can miss a change: also read again from ` +
      'time to time. The stream ends within 30 s when the session or the token ends or the role no longer allows ' +
      'it, and may end at any time: reconnect.',
    access: ROLES,
    status: 200,
    response: z.string(),
    errors: [],
  },
  listAttention: {
    id: 'listAttention',
    method: 'get',
    path: '/accounts/{accountId}/{mode}/attention',
    tag: 'Insights',
    summary: 'List what needs attention',
    description:
      'Returns payments with other terms, paid twice, after the end of their intent, of more than the amount or by a ' +
      'sanctioned sender; open deposits that are `confirmed` or `finalized`; paused and disabled webhook endpoints; ' +
      'and failed deliveries to endpoints that still exist. Newest first, each with what to do; `kind` selects some ' +
      'and may be repeated. `state` is `open` or `done` (default `open`): payments that a person has marked as done ' +
      `are listed as \`done\`, the newest mark first. Deliveries are kept for ${DELIVERY_DAYS} days, payments and ` +
      'deposits without limit. ' +
      'A deposit has `likelyIntents`: up to three unpaid intents of its wallet and token, open or ended in the week ' +
      'before it, of its amount or up to a tenth more; one whose reference it carries first, however long that has ' +
      'ended. `POST /deposits/{id}/assign` and `POST /deposits/{id}/ignore` of the payment API take a deposit off ' +
      'the list, and `GET /deposits` with `state=assigned` or `state=ignored` lists it.',
    access: ROLES,
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(ATTENTION_STATES, must(`one of ${ATTENTION_STATES.join(', ')}`)).default('open'),
      kind: z.array(z.enum(KINDS, must(`one of ${KINDS.join(', ')}`))).optional(),
    }),
    status: 200,
    response: attentionResponse,
    errors: [],
  },
  markAttentionDone: {
    id: 'markAttentionDone',
    method: 'post',
    action: 'attention.done',
    path: '/accounts/{accountId}/{mode}/attention/{itemId}/done',
    tag: 'Insights',
    summary: 'Mark what needs attention as done',
    description:
      'For payments that a person has dealt with. Marking one again changes nothing. Only an owner can mark a ' +
      'payment by a sanctioned sender. Marking does not refund: create a refund separately. Deposits, endpoints and ' +
      'deliveries cannot be marked; they leave the list once they are ignored or repaired.',
    access: ['owner', 'developer', 'support'],
    status: 200,
    response: attentionItemResponse,
    errors: ['attention.not_found'],
  },
  reopenAttention: {
    id: 'reopenAttention',
    method: 'delete',
    action: 'attention.reopened',
    path: '/accounts/{accountId}/{mode}/attention/{itemId}/done',
    tag: 'Insights',
    summary: 'Reopen what was marked as done',
    description: 'Removes the mark, whoever set it: the payment is open again. It takes the same roles as the mark.',
    access: ['owner', 'developer', 'support'],
    status: 200,
    response: attentionItemResponse,
    errors: ['attention.not_found'],
  },
  listRequests: {
    id: 'listRequests',
    method: 'get',
    path: '/accounts/{accountId}/{mode}/requests',
    tag: 'Insights',
    summary: 'List the requests to the payment API',
    description:
      `Returns requests of the last ${REQUEST_LOG_DAYS} days with a valid key or by a person, newest first: method, ` +
      'route, path, status, error code, key or person (neither for a payer with a client secret), intent and ' +
      'duration, never a body. Filters: `status` (a class such as `4xx`), `keyId`, `intentId`. An event stream is ' +
      'listed when it ends. A record appears within a few seconds. Above ' +
      `${RECORDED_PER_MINUTE} requests a minute at a gateway, one a second is listed, and \`omitted\` says how many ` +
      'before it are not. While the database is slow, requests are served but not recorded.',
    access: ['owner', 'developer'],
    query: z.strictObject({
      ...pageQuery,
      status: z.enum(STATUS_CLASSES, must(`one of ${STATUS_CLASSES.join(', ')}`)).optional(),
      keyId: word('the id of a key').optional(),
      intentId: word('the id of an intent').optional(),
    }),
    status: 200,
    response: requestsResponse,
    errors: [],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
