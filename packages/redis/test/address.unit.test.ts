import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redisAddress, redisUrl } from '../src/address.ts';

describe('REDIS_URL', () => {
  it('names one server', () => {
    const url = 'rediss://user:secret@redis.example:6380/2';
    expect(redisAddress(url)).toEqual({ kind: 'server', url });
  });

  it('names sentinels, their primary, and both logins', () => {
    expect(
      redisAddress('rediss+sentinel://pf:a%40b:c@s1.example,s2:26380,[::1]:26381/primary?sentinelPassword=d%26e'),
    ).toEqual({
      kind: 'sentinel',
      nodes: [
        { host: 's1.example', port: 26_379 },
        { host: 's2', port: 26_380 },
        { host: '::1', port: 26_381 },
      ],
      tls: true,
      username: 'pf',
      password: 'a@b:c',
      name: 'primary',
      sentinelPassword: 'd&e',
    });
  });

  it('names nodes of a cluster', () => {
    expect(redisAddress('redis+cluster://:secret@n1,n2:6380')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'n1', port: 6_379 },
        { host: 'n2', port: 6_380 },
      ],
      tls: false,
      password: 'secret',
    });
  });

  it.each([
    ['', 'nothing'],
    ['http://redis', 'another scheme'],
    ['redis://', 'no host'],
    ['redis+sentinel://s1:26379', 'no primary'],
    ['redis+sentinel://s1:26379/primary?db=1', 'an unknown parameter'],
    ['redis+sentinel://s1:0/primary', 'port 0'],
    ['redis+cluster://n1:6379,', 'an empty host'],
    ['redis+cluster://n1:65536', 'a port beyond 65535'],
    ['redis+cluster://n1:6379/0', 'a database of a cluster'],
    ['redis+cluster://user:%@n1', 'a percent sign that encodes nothing'],
  ])('is refused: %j (%s)', (url) => {
    expect(redisUrl.safeParse(url).error?.issues[0]?.message).toContain('must be redis://host:port');
  });

  it('takes any user and password, percent-encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ minLength: 1 }), (username, password) => {
        const url = `redis+cluster://${encodeURIComponent(username)}:${encodeURIComponent(password)}@n1`;
        expect(redisAddress(url)).toMatchObject({ username, password });
      }),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('', 'redis+sentinel://', 'redis+cluster://'), (text, scheme) => {
        redisAddress(scheme + text);
      }),
    );
  });
});
