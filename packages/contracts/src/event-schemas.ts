import {
  DEPOSIT_EVENT_TYPES,
  type DepositEventType,
  type EventType,
  isDepositEventType,
  PRIVATE_EVENT_TYPES,
  PUBLIC_EVENT_TYPES,
} from '@pf/domain';
import { z } from 'zod';
import { publicIntent } from './api/intent.ts';
import { depositDataSchema, depositEnvelope } from './deposit-messages.ts';
import { publicDeposit } from './deposits.ts';
import { EVENT_SCHEMA_VERSION, eventDataSchema, eventEnvelope } from './messages.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

type LoggedType = EventType | DepositEventType;
export const EVENT_TYPES: readonly LoggedType[] = [
  ...PUBLIC_EVENT_TYPES,
  ...DEPOSIT_EVENT_TYPES,
  ...PRIVATE_EVENT_TYPES,
];

/** What each event says. */
export const EVENT_MEANINGS: Readonly<Record<LoggedType, string>> = {
  'intent.created': 'A payment intent was created. `refundOf` names the original where it is a refund.',
  'intent.detected': 'A payer’s wallet has read the intent for the first time.',
  'intent.updated': 'Only what changed; `metadata` is the whole map after the change.',
  'intent.pending':
    'The transaction was broadcast, or found on chain without our broadcast. `simulated`: in test mode, by request.',
  'intent.confirmed':
    'The payment is on chain. `landing`: null where it is simulated; its `fee`: what the transaction has cost, where ' +
    'the chain told it. `late`: the state before, where it had ended.',
  'intent.finalized': 'The payment can no longer be undone.',
  'intent.failed': 'The transaction is on chain and had no effect, or the payment cannot be made any more.',
  'intent.expired': 'The time of the intent is over. `pendingAtExpiry`: a transaction was under way.',
  'intent.cancelled':
    'By request, by simulation, or `superseded`: a refund not to be paid, because another was or the original failed.',
  'intent.retry_required': 'The transaction can provably never land: the payer may pay again.',
  'intent.extra_payment': 'A second payment with the terms of the intent.',
  'intent.mismatched_payment':
    'A payment that differs from the intent, in the terms that `differs` lists. `claimed`: the chain does not show ' +
    'that it was for this intent; whoever submitted its hash says so.',
  'intent.mismatch_withdrawn':
    'The report of a mismatched payment was wrong: read again, the transfer has the terms of the intent. What it ' +
    'pays is said by the next events. With `differs`: it carries another reference, and pays this intent nothing.',
  'intent.payment_claimed':
    'Payers claim a payment that was reported for this intent for others of the account, too: `intentIds` has all of ' +
    'them so far. No new payment.',
  'intent.late_payment': 'Follows the `intent.confirmed` of a payment after the end of the intent.',
  'intent.overpaid':
    'Follows the `intent.finalized` of a payment of more than the amount, where the intent accepts that: by how much.',
  'deposit.received':
    'Money has arrived that pays no intent. Again: it has landed again, perhaps in another block. `index`: its place ' +
    'in the transaction. `tokenAddress`: null for the chain’s own coin. `from`: null for a mint.',
  'deposit.finalized': 'The deposit can no longer be undone.',
  'deposit.lost': 'A reorganization has removed the deposit from the chain.',
  'deposit.withdrawn': 'Judged again, the transfer pays this intent, whose own events count it. It stays so.',
  'deposit.ignored': 'The account ignores the deposit: nothing is to be done about it.',
  'deposit.reopened': 'The account has reopened the deposit.',
  'deposit.assigned': 'The account has assigned the deposit to this intent, whose own events tell what that does.',
  'deposit.unassigned': 'The account has undone that: the deposit does not pay the intent.',
  transaction_built: 'An unsigned transaction was built for a payer.',
  submission_prepared: 'A verified transaction claims the intent: it is about to be broadcast.',
  submission_released: 'The claim ended: no node accepted the transaction, or it can provably never land.',
  refund_linked: 'A refund of this intent was created.',
  refund_released: 'That refund will not be paid: another can be created.',
  confirmation_lost: 'A reorganization has removed the payment from the chain.',
  confirmation_restored: 'The payment is on the chain again, perhaps in another block.',
  extra_payment_observed:
    'A refund was paid late, beside the linked one. Without `refundIntentId`: an extra payment has landed again that ' +
    'was told of before a reorganization undid or moved it. Logs have older ones of other extra payments.',
  mismatched_payment_observed: 'No longer written: `intent.mismatched_payment` has replaced it.',
  deposit_told:
    'A change of a deposit that is or was assigned to the intent: `standing`, after the event of the deposit with ' +
    'this `version`. What that does to the intent is said by the next events.',
  personal_data_erased:
    '`metadata` and the idempotency key were erased: `sealed` of the events before can no longer be read.',
};

/** The definitions by name: one for each event type, `intent` and `deposit`. */
export type EventDefinitions = Readonly<Record<string, JsonSchema>>;

/**
 * The JSON Schema of every record of `intent.events`, as this code writes them: public and private events. Objects are
 * open, because later versions add fields.
 */
export function eventSchemas(): JsonSchema & { readonly $defs: EventDefinitions } {
  const definitions = Object.fromEntries(
    EVENT_TYPES.map((type) => {
      const [schema, subject] = isDepositEventType(type)
        ? [
            depositEnvelope.extend({ type: z.literal(type), data: depositDataSchema(type), deposit: z.any() }),
            'deposit',
          ]
        : [eventEnvelope.extend({ type: z.literal(type), data: eventDataSchema(type), intent: z.any() }), 'intent'];
      const definition = open(z.toJSONSchema(schema, OPTIONS));
      (definition['properties'] as Record<string, unknown>)[subject] = { $ref: `#/$defs/${subject}` };
      return [type, definition];
    }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Records of intent.events',
    description: `Schema version ${EVENT_SCHEMA_VERSION}. Later versions add fields and event types.`,
    oneOf: EVENT_TYPES.map((type) => ({ $ref: `#/$defs/${type}` })),
    $defs: {
      ...definitions,
      intent: open(z.toJSONSchema(publicIntent, OPTIONS)),
      deposit: open(z.toJSONSchema(publicDeposit, OPTIONS)),
    },
  };
}

// The text of the wire, not what code makes of it; without the names that the API's document gives to schemas.
const OPTIONS = { io: 'input', unrepresentable: 'any', metadata: z.registry<object>() } as const;

/** Without what closes objects, and without the keyword of the dialect, which only the whole document has. */
function open(schema: object): Record<string, unknown> {
  const copy = structuredClone(schema) as Record<string, unknown>;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const object = node as Record<string, unknown>;
    if (object['additionalProperties'] === false) delete object['additionalProperties'];
    if (JSON.stringify(object['additionalProperties']) === '{}') delete object['additionalProperties'];
    for (const child of Object.values(object)) visit(child);
  };
  visit(copy);
  delete copy['$schema'];
  return copy;
}
