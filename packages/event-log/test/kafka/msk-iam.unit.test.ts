import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createLogger, loadConfig } from '@pf/runtime';
import { eventLogOptions } from '../../src/kafka/environment.ts';
import { mskIamTokens } from '../../src/kafka/msk-iam.ts';
import { kafkaVariables } from '../../src/index.ts';

const NOW = new Date('2026-11-25T09:43:15Z');
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const IDENTITY = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: SECRET };
const EMPTY = createHash('sha256').digest('hex');

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The signature that a presigned GET must have (AWS Signature Version 4), without the SDK. */
function signatureOf(url: URL, secret: string, payload = EMPTY): string {
  const signed = [...url.searchParams].filter(([name]) => !['X-Amz-Signature', 'User-Agent'].includes(name));
  const query = signed.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const request = ['GET', url.pathname, query.join('&'), `host:${url.host}`, '', 'host', payload].join('\n');
  const [, date = '', region = '', service = '', end = ''] = (url.searchParams.get('X-Amz-Credential') ?? '').split(
    '/',
  );
  const hash = createHash('sha256').update(request).digest('hex');
  const scope = [date, region, service, end].join('/');
  const text = ['AWS4-HMAC-SHA256', url.searchParams.get('X-Amz-Date'), scope, hash].join('\n');
  const key = [date, region, service, end].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

const urlOf = (token: string): URL => new URL(Buffer.from(token, 'base64url').toString());
const tokens = (identity: object, timeoutMs?: number) =>
  mskIamTokens('eu-central-1', {
    credentials: async () => async () => ({ ...IDENTITY, ...identity }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

describe('The signature that these tests compute', () => {
  it('equals that of the example in the documentation of Amazon S3', () => {
    const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt');
    url.search = new URLSearchParams({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request',
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-Expires': '86400',
      'X-Amz-SignedHeaders': 'host',
    }).toString();
    expect(signatureOf(url, SECRET, 'UNSIGNED-PAYLOAD')).toBe(
      'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    );
  });
});

describe('A token for Amazon MSK', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is a presigned URL of kafka-cluster:Connect in base64url, valid for 15 minutes', async () => {
    jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
    const { value, lifetimeMs } = await tokens({})();
    expect(value).toMatch(/^[\w-]+$/);
    const url = urlOf(value);
    expect(url.origin + url.pathname).toBe('https://kafka.eu-central-1.amazonaws.com/');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      Action: 'kafka-cluster:Connect',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20261125/eu-central-1/kafka-cluster/aws4_request',
      'X-Amz-Date': '20261125T094315Z',
      'X-Amz-Expires': '900',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': signatureOf(url, SECRET),
      'User-Agent': 'payment-intents',
    });
    expect(lifetimeMs).toBe(900_000);
  });

  it('has the session of a role, signed', async () => {
    const sessionToken = 'IQoJb3JpZ2luX2VjE+/a==';
    const url = urlOf((await tokens({ sessionToken })()).value);
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe(sessionToken);
    expect(url.searchParams.get('X-Amz-Signature')).toBe(signatureOf(url, SECRET));
  });

  it('expires with the credentials that signed it', async () => {
    jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
    const ending = (seconds: number) => tokens({ expiration: new Date(NOW.getTime() + seconds * 1_000) })();
    expect((await ending(3_600)).lifetimeMs).toBe(900_000);
    expect((await ending(240)).lifetimeMs).toBe(240_000);
    await expect(ending(14)).rejects.toThrow('The AWS credentials for Kafka end at 2026-11-25T09:43:29.000Z');
  });

  it('reports the error of the credentials source', async () => {
    const request = mskIamTokens('eu-central-1', {
      credentials: async () => async () => {
        throw new Error('Could not load credentials from any providers');
      },
    });
    await expect(request()).rejects.toThrow(
      'There are no AWS credentials for Kafka: Could not load credentials from any providers. Give the service account',
    );
  });

  it('is requested again after a source that did not respond', async () => {
    let made = 0;
    const request = mskIamTokens('eu-central-1', {
      credentials: async () => {
        const isFirst = ++made === 1;
        return () => (isFirst ? new Promise<typeof IDENTITY>(() => undefined) : Promise.resolve(IDENTITY));
      },
      timeoutMs: 1,
    });
    await expect(request()).rejects.toThrow('No source has responded within 0.001 s.');
    expect(urlOf((await request()).value).searchParams.get('X-Amz-Credential')).toMatch(/^AKIAIOSFODNN7EXAMPLE/);
    await request();
    expect(made).toBe(2);
  });
});

describe('KAFKA_SASL_MECHANISM=aws-msk-iam', () => {
  const NAMES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  afterEach(() => {
    for (const name of NAMES) delete process.env[name];
  });
  const optionsWith = (more: Readonly<Record<string, string>>) =>
    eventLogOptions(
      loadConfig(kafkaVariables, {
        KAFKA_BROKERS: 'b-1.pf.kafka.eu-central-1.amazonaws.com:9098',
        KAFKA_PARTITIONS: '24',
        KAFKA_SASL_MECHANISM: 'aws-msk-iam',
        ...more,
      }),
      'test',
      createLogger('gateway', 'silent'),
    );

  it('signs in by OAUTHBEARER, with the credentials that the SDK finds', async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: 'a secret of tests' });
    const { sasl, ssl } = optionsWith({ AWS_REGION: 'eu-central-1', KAFKA_TLS: 'true' });
    expect([sasl?.mechanism, ssl]).toEqual(['oauthbearer', true]);
    if (sasl?.mechanism !== 'oauthbearer') throw new Error('No token is requested.');
    const url = urlOf((await sasl.oauthBearerProvider()).value);
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^AKIDTEST\/\d{8}\/eu-central-1\/kafka-cluster\//);
    expect(url.searchParams.get('X-Amz-Signature')).toBe(signatureOf(url, 'a secret of tests'));
  });

  it.each<[string, Record<string, string>]>([
    ['a region', { KAFKA_TLS: 'true' }],
    ['TLS', { AWS_REGION: 'eu-central-1' }],
  ])('is refused without %s', (_missing, more) => {
    expect(() => optionsWith(more)).toThrow('aws-msk-iam needs AWS_REGION and KAFKA_TLS=true');
  });

  it('refuses an invalid region', () => {
    expect(() => optionsWith({ AWS_REGION: 'Frankfurt!', KAFKA_TLS: 'true' })).toThrow('AWS_REGION: must be a region');
  });
});
