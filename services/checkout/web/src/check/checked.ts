/** What a transaction may have other than the terms say. */
export type Difference =
  | 'malformed'
  | 'chain'
  | 'token'
  | 'recipient'
  | 'amount'
  | 'reference'
  | 'payer'
  /** It does something beside the payment. */
  | 'more'
  | 'fee';

/** The result of a check: what the wallet is asked for, or why it is not asked. */
export type Checked<Payment> =
  { readonly ok: true; readonly payment: Payment } | { readonly ok: false; readonly differs: readonly Difference[] };

export const refused = (
  ...differs: readonly Difference[]
): { readonly ok: false; readonly differs: typeof differs } => ({
  ok: false,
  differs,
});

/** The names of the conditions that do not hold, each once; the payment if all do. */
export function judged<Payment>(
  conditions: readonly (readonly [Difference, boolean])[],
  payment: Payment,
): Checked<Payment> {
  const differs = new Set(conditions.filter(([, holds]) => !holds).map(([name]) => name));
  return differs.size === 0 ? { ok: true, payment } : refused(...differs);
}
