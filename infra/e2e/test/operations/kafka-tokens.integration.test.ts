import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEventLog, type EventLog, eventLogOptions, kafkaVariables } from '@pf/event-log';
import { type Brokers, startBrokers } from '@pf/local/brokers';
import { createLogger, loadConfig } from '@pf/runtime';
import { until } from '@pf/testing';

const LIFETIME_S = 15;
/** The session of each connection has ended so often, at least, when the test ends. */
const RENEWALS = 3;
const SECRET = 's e:cret';
const BROKER_NAME = 'unsecuredLoginStringClaim_sub="broker"';

/** RFC 7515, A.5. The broker's development validator takes it, and compares `exp` with its clock. */
const unsecuredToken = (subject: string, lifetimeSeconds: number): string => {
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const iat = Math.floor(Date.now() / 1_000);
  return `${encoded({ alg: 'none' })}.${encoded({ sub: subject, iat, exp: iat + lifetimeSeconds })}.`;
};

describe('Kafka with OAUTHBEARER', () => {
  let folder: string;
  let brokers: Brokers;
  let issuer: Server;
  let issued = 0;
  let lifetimeSeconds = LIFETIME_S;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-kafka-tokens-'));
    issuer = createServer((request, response) => {
      void request
        .setEncoding('utf8')
        .toArray()
        .then((body) => {
          const login = `Basic ${Buffer.from(`pf:${encodeURIComponent(SECRET)}`).toString('base64')}`;
          const isValid =
            request.headers.authorization === login && body.join('') === 'grant_type=client_credentials&scope=kafka';
          issued += isValid ? 1 : 0;
          response.writeHead(isValid ? 200 : 401, { 'content-type': 'application/json' });
          const token = { access_token: unsecuredToken('pf', lifetimeSeconds), expires_in: LIFETIME_S };
          response.end(JSON.stringify(isValid ? token : { error: 'invalid_client' }));
        });
    }).listen(0, '127.0.0.1');
    await once(issuer, 'listening');
    const module = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule';
    brokers = await startBrokers({
      count: 1,
      folder,
      properties: {
        'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:SASL_PLAINTEXT',
        'sasl.enabled.mechanisms': 'OAUTHBEARER',
        'sasl.mechanism.inter.broker.protocol': 'OAUTHBEARER',
        'listener.name.plaintext.oauthbearer.sasl.jaas.config': `${module} required ${BROKER_NAME};`,
        // Connections whose client does not authenticate again when its token expires are closed.
        'connections.max.reauth.ms': '3600000',
      },
    });
  });
  afterAll(async () => {
    issuer.closeAllConnections();
    issuer.close();
    await brokers.close();
    await rm(folder, { recursive: true, force: true });
  });

  const eventLog = (secret = SECRET): EventLog =>
    createEventLog(
      eventLogOptions(
        loadConfig(kafkaVariables, {
          KAFKA_BROKERS: brokers.addresses,
          KAFKA_PARTITIONS: '2',
          KAFKA_SASL_MECHANISM: 'oauthbearer',
          KAFKA_OAUTH_TOKEN_URL: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/token`,
          KAFKA_OAUTH_CLIENT_ID: 'pf',
          KAFKA_OAUTH_CLIENT_SECRET: secret,
          KAFKA_OAUTH_SCOPE: 'kafka',
        }),
        'test',
        createLogger('gateway', 'silent'),
      ),
    );

  it('continues to publish and read while one token after another expires, without an error', async () => {
    const log = eventLog();
    await log.createTopics();
    const publisher = await log.publisher();
    const reader = await log.reader('test');
    const followed: (string | null)[] = [];
    const stopped = new AbortController();
    const following = (async () => {
      for await (const { records } of reader.follow('intent.commands', new Map([[0, 0n]]), stopped.signal))
        followed.push(...records.map(({ value }) => value));
    })();
    const sent: string[] = [];
    try {
      const before = issued;
      while (issued < before + RENEWALS) {
        const value = String(sent.length);
        await publisher.publish('intent.commands', { partition: 0, key: 'k', value });
        sent.push(value);
        await until('the record to be read', () => followed.length === sent.length);
      }
    } finally {
      stopped.abort();
      await following;
      await publisher.close();
      await reader.close();
    }
    expect(followed).toEqual(sent);
  });

  it('is refused with an expired token', async () => {
    lifetimeSeconds = -1;
    try {
      await expect(eventLog().createTopics()).rejects.toThrow('Closed connection');
    } finally {
      lifetimeSeconds = LIFETIME_S;
    }
  });

  it('names the issuer that refused a token, with a wrong secret', async () => {
    await expect(eventLog('wrong').createTopics()).rejects.toThrow('issued no token for Kafka: status 401');
    await until('the right one to work', () =>
      eventLog()
        .createTopics()
        .then(() => true),
    );
  });
});
