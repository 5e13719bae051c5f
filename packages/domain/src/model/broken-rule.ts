/** The ledger contradicts itself: a fault of the program, never of a client. The message goes to the dead letters. */
export class BrokenRuleError extends Error {
  override readonly name = 'BrokenRuleError';
}
