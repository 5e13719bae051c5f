/** Why a text is no amount of a token. */
export type AmountProblem = 'malformed' | 'not_positive' | 'too_many_decimals' | 'too_large';

/** Amounts stay below this: what fits 64 bits unsigned fits every chain (Solana's token programs count in u64). */
const LIMIT = 2n ** 64n;

/** Digits without a needless leading zero, and perhaps a point with digits behind it. */
const PLAIN_DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?$/;

/** More digits than 2^64 has are too many whatever they are: not worth a big number. */
const LIMIT_DIGITS = LIMIT.toString().length;

/**
 * Reads an amount as a client writes it: a plain decimal, no sign, no exponent.
 * @param decimals how many decimals the token has.
 * @returns its base units, greater than 0 and less than 2^64, or what is wrong with it.
 */
export const parseAmount = (text: string, decimals: number): bigint | AmountProblem => {
  const [, whole, fraction = ''] = PLAIN_DECIMAL.exec(text) ?? [];
  if (whole === undefined) return 'malformed';
  if (fraction.length > decimals) return 'too_many_decimals';
  if (whole.length > LIMIT_DIGITS) return 'too_large';
  const baseUnits = BigInt(whole + fraction.padEnd(decimals, '0'));
  if (baseUnits === 0n) return 'not_positive';
  return baseUnits < LIMIT ? baseUnits : 'too_large';
};

/**
 * Writes base units as a plain decimal, without needless zeros at its end: what `parseAmount` reads back.
 * @param baseUnits not negative.
 * @param decimals how many decimals the token has.
 */
export const formatAmount = (baseUnits: bigint, decimals: number): string => {
  const digits = baseUnits.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};
