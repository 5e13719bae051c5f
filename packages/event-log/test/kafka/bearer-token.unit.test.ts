import { describe, expect, it } from '@jest/globals';
import { createLogger, loadConfig } from '@pf/runtime';
import { reusedToken } from '../../src/kafka/bearer-token.ts';
import { eventLogOptions } from '../../src/kafka/environment.ts';
import { kafkaVariables } from '../../src/index.ts';

const LIFETIME_MS = 100_000;

/** Tokens 1, 2, 3, …, at a time that the test sets. */
function source(lifetimeMs = LIFETIME_MS) {
  const state = { now: 0, issued: 0, fails: false };
  const token = reusedToken(
    async () => {
      if (state.fails) throw new Error('The issuer is unavailable.');
      return { value: String(++state.issued), lifetimeMs };
    },
    () => state.now,
  );
  return { state, token: async () => (await token()).value };
}

describe('A token for Kafka', () => {
  it('is requested once for all connections, and reused until 30 % of its lifetime are left', async () => {
    const { state, token } = source();
    expect(await Promise.all([token(), token(), token()])).toEqual(['1', '1', '1']);
    state.now = 69_999;
    expect(await token()).toBe('1');
    state.now = 70_000;
    expect(await Promise.all([token(), token()])).toEqual(['2', '2']);
  });

  it('is used for longer while the issuer is unavailable, but never with less than 8 s left', async () => {
    const { state, token } = source();
    await token();
    state.fails = true;
    state.now = 91_999;
    expect(await token()).toBe('1');
    state.now = 92_000;
    await expect(token()).rejects.toThrow('The issuer is unavailable.');
    state.fails = false;
    expect(await token()).toBe('2');
  });

  it('is replaced with 8 s left where its lifetime is short', async () => {
    const { state, token } = source(15_000);
    await token();
    state.now = 6_999;
    expect(await token()).toBe('1');
    state.now = 7_000;
    expect(await token()).toBe('2');
  });
});

describe('KAFKA_SASL_MECHANISM', () => {
  it('names what oauthbearer lacks', () => {
    const environment = loadConfig(kafkaVariables, {
      KAFKA_BROKERS: 'kafka:9093',
      KAFKA_PARTITIONS: '24',
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_CLIENT_ID: 'pf',
    });
    expect(() => eventLogOptions(environment, 'test', createLogger('gateway', 'silent'))).toThrow(
      'KAFKA_SASL_MECHANISM: oauthbearer needs KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID',
    );
  });
});
