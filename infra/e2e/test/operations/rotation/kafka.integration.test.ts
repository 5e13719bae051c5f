import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEventLog } from '@pf/event-log';
import { type Brokers, startBrokers } from '@pf/local/brokers';
import { freePorts } from '@pf/testing';
import kafkajs from 'kafkajs';
import { writeAuthorities } from './authorities.ts';
import { Client } from './client.ts';

const LISTENER = 'listener.name.ssl.ssl.keystore';

describe('Kafka with TLS by a private authority', () => {
  let folder: string;
  let brokers: Brokers;
  let url: string;
  const clients: Client[] = [];

  const file = (name: string): string => path.join(folder, name);
  const clientWith = (authorities: string): Client => {
    const client = new Client(file(authorities));
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-kafka-tls-'));
    await writeAuthorities(folder);
    for (const authority of ['old', 'new']) {
      const parts = await Promise.all(['key', 'crt'].map((kind) => readFile(file(`${authority}.${kind}`), 'utf8')));
      await writeFile(file(`${authority}.pem`), parts.join(''));
    }
    await copyFile(file('old.pem'), file('broker.pem'));
    const [port = 0] = await freePorts(1);
    url = `kafka://127.0.0.1:${port}`;
    brokers = await startBrokers({
      count: 1,
      folder,
      further: `SSL://127.0.0.1:${port}`,
      properties: {
        'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL',
        [`${LISTENER}.type`]: 'PEM',
        [`${LISTENER}.location`]: file('broker.pem'),
      },
    });
    await createEventLog({ brokers: [brokers.addresses], partitions: 1, clientId: 'test' }).createTopics();
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await brokers.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** As Strimzi does it, without a restart of the broker: it reads the file again. */
  async function present(authority: string): Promise<void> {
    await copyFile(file(`${authority}.pem`), file('broker.pem'));
    const admin = new kafkajs.Kafka({ brokers: [brokers.addresses], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      await admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            // A broker.
            type: 4,
            name: '1',
            configEntries: [
              { name: `${LISTENER}.type`, value: 'PEM' },
              { name: `${LISTENER}.location`, value: file('broker.pem') },
            ],
          },
        ],
      });
    } finally {
      await admin.disconnect();
    }
  }

  it('changes its authority while a client that trusts both goes on', async () => {
    const [both, onlyOld] = [clientWith('both-ca.crt'), clientWith('old-ca.crt')];
    await onlyOld.connect(url);
    const failures = await both.failuresDuring(url, async () => {
      await present('new');
      await clientWith('new-ca.crt').connect(url);
    });
    expect(failures).toEqual([]);
    // The certificate is another one: who trusts the former authority alone gets no new connection.
    expect(await onlyOld.attempt(url)).toEqual({
      kept: 'works',
      fresh: expect.stringContaining('unable to verify the first certificate'),
    });
  });
});
