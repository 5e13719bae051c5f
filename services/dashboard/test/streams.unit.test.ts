import { describe, expect, it } from '@jest/globals';
import type { Database } from '@pf/database';
import { createLogger } from '@pf/runtime';
import { Streams, STREAMS_MAX } from '../src/streams.ts';

/** What it follows is not looked up here. */
const open = () => new Streams({ database: {} as Database, log: createLogger('test', 'silent'), now: () => 0 });
type Follower = Parameters<Streams['take']>[0];
const follower = (userId: string, accountId: string, address: string): Follower =>
  ({ person: { userId }, account: { id: accountId }, client: { address } }) as unknown as Follower;
const codeOf = (take: () => unknown): string => {
  try {
    take();
    return 'open';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
};
/** @returns how many of so many a person opens, with ten in each account */
function fill(streams: Streams, person: number, many: number, address: string): number {
  let held = 0;
  for (let n = 0; n < many; n++) {
    const one = follower(`usr_${person}`, `acct_${person}_${Math.floor(n / 10)}`, address);
    if (codeOf(() => streams.take(one)) === 'open') held += 1;
  }
  return held;
}

describe('the streams of the dashboard', () => {
  it('have a reserve for persons and addresses with few, where ten persons hold all others', () => {
    const streams = open();
    for (let person = 0; person < 10; person++) expect(fill(streams, person, 60, `192.0.2.${person}`)).toBe(50);
    const another = follower('usr_a', 'acct_a', '198.51.100.1');
    expect([1, 2, 3].map(() => codeOf(() => streams.take(another)))).toEqual(['open', 'open', 'service.unavailable']);
    const ofTheirs = follower('usr_b', 'acct_0_1', '198.51.100.2');
    expect(codeOf(() => streams.take(ofTheirs))).toBe('service.unavailable');
    const place = streams.take(follower('usr_c', 'acct_c', '198.51.100.3'));
    for (let n = 3; n < STREAMS_MAX - 500; n++)
      expect(codeOf(() => streams.take(follower(`usr_${n}_x`, `acct_${n}_x`, `203.0.113.${n}`)))).toBe('open');
    const last = follower('usr_d', 'acct_d', '198.51.100.4');
    expect(codeOf(() => streams.take(last))).toBe('service.unavailable');
    place();
    expect(codeOf(() => streams.take(last))).toBe('open');
  });

  it('are a hundred of an address, however many persons it has, and twice that of a /48', () => {
    const streams = open();
    const [one, two, three] = ['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1'] as const;
    expect([1, 2, 3].map((person) => fill(streams, person, 50, one))).toEqual([50, 50, 0]);
    expect([4, 5, 6].map((person) => fill(streams, person, 50, two))).toEqual([50, 50, 0]);
    expect(fill(streams, 7, 50, three)).toBe(0);
    expect(fill(streams, 8, 50, '2001:db8:2:1::1')).toBe(50);
  });
});
