import type { Parsed } from '@pf/chains';
import { type AmountProblem, parseAmount } from '@pf/domain';

/** Parses an amount of a token into base units. A problem is worded for the client. */
export function readAmount(
  amount: string,
  { decimals, symbol }: { readonly decimals: number; readonly symbol: string },
): Parsed<bigint> {
  const value = parseAmount(amount, decimals);
  return typeof value === 'bigint'
    ? { ok: true, value }
    : { ok: false, problem: amountProblem(value, decimals, symbol) };
}

function amountProblem(problem: AmountProblem, decimals: number, symbol: string): string {
  switch (problem) {
    case 'malformed':
      return 'must be a decimal string without sign or exponent, such as "12.50"';
    case 'not_positive':
      return 'must be greater than 0';
    case 'too_many_decimals':
      return `must have at most ${decimals} decimals, as ${symbol} does`;
    case 'too_large':
      return 'must be less than 2^64 base units of the token';
    default:
      return problem satisfies never;
  }
}
