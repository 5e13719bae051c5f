import { describe, expect, it } from '@jest/globals';
import { networkNamed, rewindCursor } from '../src/index.ts';

const checkpoints = [{ number: '900', hash: '0x09' }];

describe('a rewound cursor', () => {
  it('lets the observer of Base read logs a second time from a block on', () => {
    const cursor = { genesis: '0x00', checkpoints, rescanned: '890', seen: [], arrivals: [], setAside: [] };
    expect(rewindCursor(networkNamed('base'), cursor, 500n)).toEqual({
      ...cursor,
      rescanned: '499',
      firstReader: null,
    });
    expect(rewindCursor(networkNamed('base'), cursor, 891n)).toEqual({ ...cursor, firstReader: null });
  });

  it('lets the observer of Tempo read logs a second time from a block on', () => {
    const cursor = { genesis: '0x00', checkpoints, reread: '890' };
    expect(rewindCursor(networkNamed('tempo'), cursor, 500n)).toEqual({
      ...cursor,
      reread: '499',
      firstReader: null,
    });
    expect(rewindCursor(networkNamed('tempo'), cursor, 891n)).toEqual(cursor);
  });

  it('lets the observer of Solana list transactions from a slot on, without what it remembers', () => {
    const cursor = { id: 'a', slot: '890', known: '900', head: '900', lost: {} };
    const rewound = rewindCursor(networkNamed('solana'), cursor, 500n);
    expect(rewound).toEqual({ ...cursor, id: expect.any(String), slot: '499', known: null });
    expect(rewound['id']).not.toBe('a');
  });

  it('is not made of the cursor of another family', () => {
    expect(() => rewindCursor(networkNamed('solana'), { genesis: '0x00', checkpoints, reread: '1' }, 1n)).toThrow();
  });
});
