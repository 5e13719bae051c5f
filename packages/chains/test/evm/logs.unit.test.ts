import { describe, expect, it } from '@jest/globals';
import { getLogs } from '../../src/evm/calls.ts';

const call = getLogs({ fromBlock: 1n, toBlock: 1n, address: [], topics: [] });
const word = (digits: string): string => `0x${digits.repeat(32)}`;
const log = {
  address: `0x${'AB'.repeat(20)}`,
  topics: [word('CD'), word('01')],
  data: '0xFF',
  blockNumber: '0x10',
  blockHash: word('BB'),
  transactionHash: word('EF'),
  logIndex: '0x2',
};

describe('a log of an EVM node', () => {
  it('is read in one spelling, whatever the node has', () => {
    expect(call.parse([log, { ...log, removed: true, more: 1 }])).toEqual([
      {
        address: '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB',
        topics: [word('cd'), word('01')],
        data: '0xff',
        blockNumber: 16n,
        blockHash: word('bb'),
        transactionHash: word('ef'),
        logIndex: 2n,
        removed: false,
      },
      expect.objectContaining({ removed: true }),
    ]);
  });

  it('has the time of its block where the node tells it', () => {
    const [told, ...others] = call.parse([
      { ...log, blockTimestamp: '0x10' },
      log,
      { ...log, blockTimestamp: null },
      { ...log, blockTimestamp: 16 },
    ]);
    expect(told?.blockTimestamp).toBe(16n);
    for (const one of others) expect(one).not.toHaveProperty('blockTimestamp');
  });

  it.each([
    { address: `0x${'ab'.repeat(19)}` },
    { topics: [word('cd'), null] },
    { topics: ['0xcd'] },
    { topics: word('cd') },
    { data: '0xf' },
    { data: undefined },
    { blockNumber: 16 },
    { blockNumber: null },
    { blockHash: null },
    { transactionHash: `${word('ef')}ef` },
    { logIndex: '2' },
    { removed: 'no' },
  ])('is refused with %p', (change) => {
    expect(() => call.parse([log, { ...log, ...change }])).toThrow(Error);
  });

  it.each([null, 'logs', [null], [1], [[]]])('is none in %p', (result) => {
    expect(() => call.parse(result)).toThrow(Error);
  });
});
