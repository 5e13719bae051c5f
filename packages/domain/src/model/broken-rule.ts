/** The ledger contradicts itself: a bug, never a client's fault. The message goes to the dead letters. */
export class BrokenRuleError extends Error {
  override readonly name = 'BrokenRuleError';
}
