import { describe, expect, it } from '@jest/globals';
import { addressGroup, sharingGroups } from '../src/index.ts';

describe('addressGroup', () => {
  it('is the address for IPv4, in any notation, and the /64 network for IPv6', () => {
    expect(['192.0.2.1', '::ffff:192.0.2.1'].map(addressGroup)).toEqual(['192.0.2.1', '192.0.2.1']);
    expect(addressGroup('2001:db8:1:2:3::4')).toBe(addressGroup('2001:db8:1:2::'));
    expect(addressGroup('2001:db8:1:3::4')).not.toBe(addressGroup('2001:db8:1:2::'));
    expect([undefined, 'nonsense'].map(addressGroup)).toEqual(['unknown', 'unknown']);
  });

  it('is the IPv4 address that a NAT64 prefix translates', () => {
    expect(['64:ff9b::192.0.2.1', '64:ff9b::c000:201', '64:ff9b:1::192.0.2.1'].map(addressGroup)).toEqual([
      '192.0.2.1',
      '192.0.2.1',
      '192.0.2.1',
    ]);
    expect(addressGroup('64:ff9b::192.0.2.2')).not.toBe(addressGroup('64:ff9b::192.0.2.1'));
    // Neither prefix.
    expect(addressGroup('64:ff9b:2::192.0.2.1')).toBe('64:ff9b:2:0');
  });
});

describe('sharingGroups', () => {
  it('has the /48 of an IPv6 address beside its /64, with the limits of 16 addresses', () => {
    expect(sharingGroups('2001:db8:1:2:3::4')).toEqual([
      { group: '2001:db8:1:2', times: 1 },
      { group: '2001:db8:1/48', times: 16 },
    ]);
  });

  it.each(['192.0.2.1', '::ffff:192.0.2.1', '64:ff9b::192.0.2.1'])('has the address alone for %s', (ip) => {
    expect(sharingGroups(ip)).toEqual([{ group: '192.0.2.1', times: 1 }]);
  });

  it('has one group for whatever is no address', () => {
    expect([undefined, 'nonsense'].map(sharingGroups)).toEqual([
      [{ group: 'unknown', times: 1 }],
      [{ group: 'unknown', times: 1 }],
    ]);
  });
});
