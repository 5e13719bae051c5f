/** Why a text is not an amount of a token. */
export type AmountProblem = 'malformed' | 'not_positive' | 'too_many_decimals' | 'too_large';

/** Exclusive upper bound, in base units: a u64 fits every chain (Solana's token programs count in u64). */
export const AMOUNT_LIMIT = 2n ** 64n;

/** Digits without a leading zero, optionally a point and more digits. */
const PLAIN_DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?$/;

/** A number with more digits than 2^64 is too large: it need not be parsed. */
const LIMIT_DIGITS = AMOUNT_LIMIT.toString().length;

/**
 * Parses an amount as a client writes it: a plain decimal without sign or exponent.
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
  return baseUnits < AMOUNT_LIMIT ? baseUnits : 'too_large';
};

/** How many decimals a token has of which an amount is so many base units. */
export const decimalsOf = (amount: string, baseUnits: bigint): number => {
  const [whole = '', fraction = ''] = amount.split('.');
  return fraction.length + baseUnits.toString().length - BigInt(whole + fraction).toString().length;
};

/**
 * Formats base units as a plain decimal without trailing zeros; `parseAmount` reads it back.
 * @param baseUnits not negative.
 * @param decimals how many decimals the token has.
 */
export const formatAmount = (baseUnits: bigint, decimals: number): string => {
  const digits = baseUnits.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};
