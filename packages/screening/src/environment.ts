import { ConfigurationError, type Logger } from '@pf/runtime';
import { z } from 'zod';
import { ApiScreener, CLEAN_MAX_SECONDS, SHARE_PER_SECOND } from './api/api-screener.ts';
import { ListScreener } from './list/list-screener.ts';
import type { Screening, Screener } from './port.ts';
import { createScreening } from './screening.ts';

/**
 * The variables of the screening. The screeners in use follow from what is set; to use none requires
 * SCREENING=off.
 */
export const screeningVariables = {
  SCREENING: z.enum(['on', 'off']).default('on'),
  /** As `pf sanctions update` writes it. */
  SCREENING_LIST_FILE: z.string().optional(),
  SCREENING_API_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  SCREENING_API_KEY: z.string().optional(),
  /** Seconds for which a clean result of the API is cached, at most 10 minutes. */
  SCREENING_CACHE_SECONDS: z.coerce.number().int().min(0).max(CLEAN_MAX_SECONDS).default(CLEAN_MAX_SECONDS),
  /** Wallets that each live account, and test mode as a whole, may have looked up a second, in each process. */
  SCREENING_SHARE_PER_SECOND: z.coerce.number().int().min(1).default(SHARE_PER_SECOND),
} as const;

export type ScreeningConfig = z.infer<z.ZodObject<typeof screeningVariables>>;

/**
 * The configured screening.
 * @throws ConfigurationError if no screener is configured without SCREENING=off, or only half of the API
 */
export function openScreening(config: ScreeningConfig, log: Logger): Screening {
  const {
    SCREENING,
    SCREENING_LIST_FILE: file,
    SCREENING_API_URL: url,
    SCREENING_API_KEY: key,
    SCREENING_CACHE_SECONDS: cleanSeconds,
    SCREENING_SHARE_PER_SECOND: sharePerSecond,
  } = config;
  if (SCREENING === 'off') {
    log.warn({ alarm: 'screening_off' }, 'sanctions screening is off: every wallet passes');
    return createScreening([]);
  }
  if ((url === undefined) !== (key === undefined))
    throw invalid(
      url === undefined
        ? 'SCREENING_API_URL: is not set, but SCREENING_API_KEY is'
        : 'SCREENING_API_KEY: is not set, but SCREENING_API_URL is',
    );
  const screeners: Screener[] = [];
  if (file !== undefined) screeners.push(new ListScreener({ file, log }));
  if (url !== undefined && key !== undefined)
    screeners.push(new ApiScreener({ url, key, cleanSeconds, sharePerSecond, log }));
  if (screeners.length === 0)
    throw invalid(
      [
        'SCREENING: no screener is configured. Set SCREENING_LIST_FILE, or SCREENING_API_URL and SCREENING_API_KEY,',
        'or both. To turn screening off, set SCREENING=off.',
      ].join(' '),
    );
  log.info({ list: file ?? null, api: url === undefined ? null : new URL(url).host }, 'wallets are screened');
  return createScreening(screeners);
}

const invalid = (problem: string): ConfigurationError =>
  new ConfigurationError(`The configuration is invalid:\n  ${problem}`);
