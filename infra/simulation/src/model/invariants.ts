/** What is checked, while a run goes on and at its end. */
export type Invariant =
  | 'a version is in the log once'
  | 'a command is decided once'
  | 'an input is consumed once'
  | 'one claim lives at a time'
  | 'a claim pays the terms of its intent'
  | 'no command is decided late'
  | 'money moves once'
  | 'nothing is broadcast without a claim'
  | 'a released claim cannot pay'
  | 'clients are told no contradiction'
  | 'an acknowledged command takes effect'
  | 'an intent ends as its chain says'
  | 'a deposit pays one intent'
  | 'an intent is settled once'
  | 'the books have what arrived'
  | 'what has arrived is told'
  | 'a landing is worth at most what was gained'
  | 'what landed has an outcome'
  | 'a proof withdraws the report'
  | 'a send intent is paid by its wallet'
  | 'dust hides no payment'
  | 'a transaction that cannot be read delays no other'
  | 'what is finalized is final on its chain'
  | 'a claimed transaction is not forgotten'
  | 'an undone payment is not refunded'
  | 'time in the log is true'
  | 'no intent expires early'
  | 'a public event is due for delivery'
  | 'the projection is the fold of the log'
  | 'a log that lost its end raises the alarm'
  | 'a log that lost its end is not written on'
  | 'no position moves back'
  | 'nothing stands still'
  | 'no request fails for a reason of the service'
  | 'nothing unforeseen is thrown';

/** An invariant does not hold. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
  readonly invariant: Invariant;

  constructor(invariant: Invariant, what: string) {
    super(what);
    this.invariant = invariant;
  }
}
