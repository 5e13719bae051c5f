/** A field of the payment in the body of an event. */
export const paidIn = (row: string, field: string): string => `${row}.body::jsonb #>> '{data,payment,${field}}'`;

const isSame = (one: string, other: string, ...fields: readonly string[]): string =>
  fields.map((field) => `${paidIn(one, field)} = ${paidIn(other, field)}`).join(' AND ');

/**
 * False for a mismatched payment, the row `reported`, that a later event of its intent has withdrawn: one look at the
 * index of its intent for each, which a plain NOT EXISTS would let the planner turn into a scan of all intents' events.
 *
 * The body of an event does not say which transfer of a transaction it is about, and what one is worth may have turned
 * out to be another amount: then it is the only one that its transaction has reported for the wallet.
 */
export const MISMATCH_STANDS = `(SELECT true FROM ledger.intent_events AS later
   WHERE later.intent_id = reported.intent_id AND later.version > reported.version
     AND later.type = 'intent.mismatch_withdrawn' AND ${isSame('later', 'reported', 'txSignature', 'recipient')}
     AND (${isSame('later', 'reported', 'amountBaseUnits')} OR 1 = (
       SELECT count(*) FROM ledger.intent_events AS any_other
        WHERE any_other.intent_id = reported.intent_id AND any_other.version < later.version
          AND any_other.type = 'intent.mismatched_payment'
          AND ${isSame('any_other', 'reported', 'txSignature', 'recipient')})) LIMIT 1) IS NULL`;
