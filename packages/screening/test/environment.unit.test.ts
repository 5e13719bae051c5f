import { describe, expect, it } from '@jest/globals';
import { ConfigurationError, createLogger, loadConfig } from '@pf/runtime';
import { openScreening, screeningVariables } from '../src/index.ts';

const open = (environment: Record<string, string>) =>
  openScreening(loadConfig(screeningVariables, environment), createLogger('test', 'silent'));

describe('openScreening', () => {
  it('refuses a configuration without a screener unless SCREENING is off', () => {
    expect(() => open({})).toThrow(ConfigurationError);
    expect(() => open({})).toThrow(/SCREENING=off/);
  });

  it('lets every wallet pass if SCREENING is off', async () => {
    const wallet = { chain: 'eip155:8453', address: `0x${'1'.repeat(40)}` };
    expect(await open({ SCREENING: 'off' }).screen([wallet], { livemode: true, accountId: null })).toEqual({
      kind: 'clean',
    });
  });

  it.each([
    ['SCREENING_API_KEY', { SCREENING_API_URL: 'https://sanctions.example' }],
    ['SCREENING_API_URL', { SCREENING_API_KEY: 'key', SCREENING_LIST_FILE: 'list.json' }],
    ['SCREENING_API_URL', { SCREENING_API_KEY: 'key', SCREENING_API_URL: 'ftp://sanctions.example' }],
    ['SCREENING_CACHE_SECONDS', { SCREENING_LIST_FILE: 'list.json', SCREENING_CACHE_SECONDS: '601' }],
    ['SCREENING_SHARE_PER_SECOND', { SCREENING_LIST_FILE: 'list.json', SCREENING_SHARE_PER_SECOND: '0' }],
    ['SCREENING:', { SCREENING: 'no' }],
  ])('names %s if it is missing or invalid', (name, environment) => {
    expect(() => open(environment as Record<string, string>)).toThrow(name);
  });
});
