import { ConfigurationError, type Logger } from '@pf/runtime';
import { z } from 'zod';
import { ApiScreener, CLEAN_MAX_SECONDS } from './api/api-screener.ts';
import { ListScreener } from './list/list-screener.ts';
import type { Screening, Screener } from './port.ts';
import { createScreening } from './screening.ts';

/**
 * The variables of the screening. Which parts are on is said by what is set; that none is must be said with
 * SCREENING=off.
 */
export const screeningVariables = {
  SCREENING: z.enum(['on', 'off']).default('on'),
  /** As `pf sanctions update` writes it. */
  SCREENING_LIST_FILE: z.string().optional(),
  SCREENING_API_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  SCREENING_API_KEY: z.string().optional(),
  /** How long a clean answer of the API is believed; at most 10 minutes. */
  SCREENING_CACHE_SECONDS: z.coerce.number().int().min(0).max(CLEAN_MAX_SECONDS).default(CLEAN_MAX_SECONDS),
} as const;

export type ScreeningConfig = z.infer<z.ZodObject<typeof screeningVariables>>;

/**
 * The screening that the configuration asks for.
 * @throws ConfigurationError where it asks for none without saying so, or for half of the API
 */
export function openScreening(config: ScreeningConfig, log: Logger): Screening {
  const {
    SCREENING,
    SCREENING_LIST_FILE: file,
    SCREENING_API_URL: url,
    SCREENING_API_KEY: key,
    SCREENING_CACHE_SECONDS: cleanSeconds,
  } = config;
  if (SCREENING === 'off') {
    log.warn({ alarm: 'screening_off' }, 'sanctions screening is off: every wallet passes');
    return createScreening([]);
  }
  if ((url === undefined) !== (key === undefined))
    throw wrong(
      url === undefined
        ? 'SCREENING_API_URL: is not set, but SCREENING_API_KEY is'
        : 'SCREENING_API_KEY: is not set, but SCREENING_API_URL is',
    );
  const parts: Screener[] = [];
  if (file !== undefined) parts.push(new ListScreener({ file, log }));
  if (url !== undefined && key !== undefined) parts.push(new ApiScreener({ url, key, cleanSeconds, log }));
  if (parts.length === 0)
    throw wrong(
      'SCREENING: set SCREENING_LIST_FILE, or SCREENING_API_URL and SCREENING_API_KEY, or both; to screen nobody, say SCREENING=off',
    );
  log.info({ list: file ?? null, api: url === undefined ? null : new URL(url).host }, 'wallets are screened');
  return createScreening(parts);
}

const wrong = (problem: string): ConfigurationError =>
  new ConfigurationError(`The configuration is invalid:\n  ${problem}`);
