import { type NameAnswer, type NameServer, startNameServer } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createResolver, type Resolve } from '../src/resolver.ts';

describe('The resolver', () => {
  let server: NameServer;
  let resolve: Resolve;
  let now = 0;
  const answers: Record<string, NameAnswer> = {};
  beforeEach(async () => {
    for (const name of Object.keys(answers)) delete answers[name];
    answers['shop.example'] = { address: '192.0.2.7', ttl: 30 };
    server = await startNameServer((name) => (name.startsWith('dead-') ? 'silent' : (answers[name] ?? 'absent')));
    now = 0;
    resolve = createResolver({ servers: [server.address], now: () => now });
  });
  afterEach(() => server.close());
  const askedFor = (name: string): number => server.asked.filter((asked) => asked === name).length;

  it('asks for both families, once at a time', async () => {
    const found = await Promise.all([resolve('shop.example'), resolve('shop.example')]);
    expect(found).toEqual(Array.from({ length: 2 }, () => [{ address: '192.0.2.7', family: 4 }]));
    expect(askedFor('shop.example')).toBe(2);
  });

  it('caches a response for its TTL, at most a minute', async () => {
    answers['long.example'] = { address: '192.0.2.8', ttl: 86_400 };
    await resolve('shop.example');
    await resolve('long.example');
    now = 29_999;
    await resolve('shop.example');
    expect(askedFor('shop.example')).toBe(2);
    now = 30_000;
    await resolve('shop.example');
    expect(askedFor('shop.example')).toBe(4);
    now = 60_000;
    await resolve('long.example');
    expect(askedFor('long.example')).toBe(4);
  });

  it('caches for ten seconds that a name does not exist', async () => {
    await expect(resolve('missing.example')).rejects.toThrow('The host name does not exist.');
    now = 9_999;
    await expect(resolve('missing.example')).rejects.toThrow('The host name does not exist.');
    expect(askedFor('missing.example')).toBe(2);
    now = 10_000;
    answers['missing.example'] = { address: '192.0.2.9', ttl: 1 };
    expect(await resolve('missing.example')).toEqual([{ address: '192.0.2.9', family: 4 }]);
  });

  it('asks again for a host whose name servers fail after twice as long each time', async () => {
    answers['broken.example'] = 'failing';
    const pauses = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
    for (const pause of pauses) {
      await expect(resolve('broken.example')).rejects.toThrow('The host name cannot be resolved now.');
      const asked = askedFor('broken.example');
      now += pause - 1;
      await expect(resolve('broken.example')).rejects.toThrow('The host name cannot be resolved now.');
      expect(askedFor('broken.example')).toBe(asked);
      now += 1;
    }
    answers['broken.example'] = { address: '192.0.2.9', ttl: 1 };
    expect(await resolve('broken.example')).toHaveLength(1);
  });

  it('does not wait for other hosts whose name servers hang', async () => {
    const dead = Array.from({ length: 50 }, (_, index) => resolve(`dead-${index}.example`));
    const first = Promise.race([
      resolve('shop.example').then(() => 'the one that responds'),
      ...dead.map((one) => one.catch(() => 'one that hangs')),
    ]);
    expect(await first).toBe('the one that responds');
    const settled = await Promise.allSettled(dead);
    expect(new Set(settled.map((one) => one.status === 'rejected' && String(one.reason)))).toEqual(
      new Set(['UnresolvedError: The name servers of the host do not respond.']),
    );
  });

  it('blames no host while no name server can be reached', async () => {
    const { address } = server;
    await server.close();
    await expect(createResolver({ servers: [address] })('shop.example')).rejects.toThrow('no name server can be asked');
    server = await startNameServer(() => 'absent');
  });

  it.each(['absent', 'failing', 'without name servers'] as const)(
    'takes a name from the hosts file of a developer, %s elsewhere',
    async (elsewhere) => {
      if (elsewhere === 'without name servers') await server.close();
      else for (const name of ['receiver.internal', 'other.internal']) answers[name] = elsewhere;
      const hosts = (host: string) =>
        host === 'receiver.internal' ? Promise.resolve([{ address: '192.0.2.1', family: 4 }]) : Promise.reject(Error());
      const developer = createResolver({ servers: [server.address], now: () => now, otherwise: hosts });
      expect(await developer('receiver.internal')).toEqual([{ address: '192.0.2.1', family: 4 }]);
      await expect(developer('other.internal')).rejects.toThrow(/cannot be resolved|does not exist|can be asked/);
      if (elsewhere === 'without name servers') server = await startNameServer(() => 'absent');
    },
  );

  it('asks no server for names of this machine', async () => {
    for (const name of ['localhost', 'a.localhost', 'LOCALHOST.'])
      expect(await resolve(name)).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
    expect(server.asked).toEqual([]);
  });
});
