/** Decimals that amounts of money have at least. */
const DECIMALS_MIN = 2;

/** A decimal string with separators: `1234567.5` is `1,234,567.50`. Money is never a float. */
export function amount(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(DECIMALS_MIN, '0')}`;
}

/** The beginning and the end of a long id, address or hash. */
export const short = (text: string, kept = 6): string =>
  text.length <= 2 * kept + 3 ? text : `${text.slice(0, kept)}…${text.slice(-4)}`;
