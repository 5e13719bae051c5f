/** A field of the payment in the body of an event. */
export const paidIn = (row: string, field: string): string => `${row}.body::jsonb #>> '{data,payment,${field}}'`;

/**
 * False for a mismatched payment, the row `reported`, that a later event of its intent has withdrawn: one look at the
 * index of its intent for each, which a plain NOT EXISTS would let the planner turn into a scan of all intents' events.
 */
export const MISMATCH_STANDS = `(SELECT true FROM ledger.intent_events AS later
   WHERE later.intent_id = reported.intent_id AND later.version > reported.version
     AND later.type = 'intent.mismatch_withdrawn'
     AND ${['txSignature', 'amountBaseUnits', 'recipient']
       .map((field) => `${paidIn('later', field)} = ${paidIn('reported', field)}`)
       .join(' AND ')} LIMIT 1) IS NULL`;
