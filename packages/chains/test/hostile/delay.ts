/**
 * A hostile transaction costs the steps that confirm the payment beside it less than this, in ms of a quiet core. The
 * dearest takes a quarter of it. What reads one piece too often takes minutes.
 */
export const DELAY_MAX_MS = 1_000;
