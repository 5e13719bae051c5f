/** Decimals that amounts of money have at least. */
const DECIMALS_MIN = 2;
/** More than any token or fee has. */
const DECIMALS_MAX = 18;

/**
 * A decimal string as the language writes it. It is never a float: the formatter reads the string digit by digit.
 * Digits are the Latin ones everywhere, because people compare them with what their wallet shows.
 */
export function formatAmount(decimal: string, locale: string, decimalsMin = DECIMALS_MIN): string {
  return new Intl.NumberFormat(locale, {
    numberingSystem: 'latn',
    minimumFractionDigits: decimalsMin,
    maximumFractionDigits: DECIMALS_MAX,
  }).format(decimal as `${number}`);
}

/** Lamports as a decimal string of SOL. */
export function solOf(lamports: number): string {
  const text = lamports.toString().padStart(10, '0');
  const fraction = text.slice(-9).replace(/0+$/, '');
  return `${text.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Minutes and seconds: `4:05`. */
export function formatTime(ms: number, locale: string): string {
  const seconds = Math.ceil(ms / 1_000);
  const two = new Intl.NumberFormat(locale, { numberingSystem: 'latn', minimumIntegerDigits: 2 });
  const one = new Intl.NumberFormat(locale, { numberingSystem: 'latn' });
  return `${one.format(Math.floor(seconds / 60))}:${two.format(seconds % 60)}`;
}

export const formatDate = (iso: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, { numberingSystem: 'latn', dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(iso),
  );
