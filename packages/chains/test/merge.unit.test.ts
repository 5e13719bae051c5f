import { describe, expect, it } from '@jest/globals';
import { samples } from '@pf/domain/testing';
import { mergeCursors, networkNamed } from '../src/index.ts';

const [base, tempo, solana] = [networkNamed('base'), networkNamed('tempo'), networkNamed('solana')];
const at = (number: number) => ({ number: String(number), hash: `0x${number}` });

describe('a cursor that is merged of those of several shards', () => {
  it('covers only blocks that every shard has read, on Base', () => {
    const arrivedAt = (block: number) => ({
      hash: samples.FIRST,
      index: '3',
      block: String(block),
      blockHash: `0x${block}`,
      tokenAddress: samples.USDC,
      from: samples.BOB,
      to: samples.ALICE,
      amount: '5',
      reference: null,
      reason: 'no_reference',
      seenAt: 1,
      reported: false,
    });
    const seenAt = (block: number, hash: string) => ({
      kind: 'reverted',
      intentId: samples.INTENT,
      hash,
      block: String(block),
      blockHash: `0x${block}`,
      reason: 'it ran out of gas',
      seenAt: 1,
    });
    const ahead = {
      genesis: '0x00',
      checkpoints: [at(950), at(900)],
      whole: '905',
      rescanned: '860',
      firstReader: 'a.example',
      seen: [seenAt(880, samples.FIRST), seenAt(920, samples.SECOND)],
      arrivals: [arrivedAt(909), arrivedAt(920)],
    };
    const behind = {
      genesis: '0x00',
      checkpoints: [at(910), at(890)],
      rescanned: '870',
      firstReader: 'b.example',
      seen: [seenAt(909, samples.SECOND)],
    };
    expect(mergeCursors(base, [ahead, behind])).toEqual({
      genesis: '0x00',
      checkpoints: [at(910), at(890)],
      whole: '905',
      rescanned: '860',
      firstReader: null,
      seen: [seenAt(880, samples.FIRST), seenAt(909, samples.SECOND)],
      arrivals: [arrivedAt(909)],
      setAside: [],
    });
    expect(mergeCursors(base, [behind])).toEqual({ ...behind, firstReader: null, arrivals: [], setAside: [] });
  });

  it('covers only blocks that every shard has read, on Tempo', () => {
    const ahead = { genesis: '0x00', checkpoints: [at(950)], whole: '905', reread: '860', firstReader: 'a.example' };
    const behind = { genesis: '0x00', checkpoints: [at(910)], reread: '870', firstReader: 'b.example' };
    const merged = { genesis: '0x00', checkpoints: [at(910)], whole: '905', reread: '860', firstReader: null };
    expect(mergeCursors(tempo, [ahead, behind])).toEqual(merged);
    expect(mergeCursors(tempo, [behind, ahead])).toEqual(merged);
  });

  it('covers only slots that every shard has read, on Solana, and trusts bookmarks that all of them trust', () => {
    const one = { id: 'a', slot: '890', known: '950', head: '950', lost: { [samples.FIRST]: '700' } };
    const other = { id: 'b', slot: '870', known: '960', head: '960', lost: { [samples.SECOND]: '800' } };
    const merged = mergeCursors(solana, [one, other]);
    expect(merged).toEqual({
      id: expect.any(String),
      slot: '870',
      known: '950',
      head: '950',
      lost: { ...one.lost, ...other.lost },
    });
    expect(['a', 'b']).not.toContain(merged['id']);
    expect(mergeCursors(solana, [one, { ...other, known: null }])).toMatchObject({ known: null });
  });

  it('is refused while they follow different chains', () => {
    const cursor = { genesis: '0x00', checkpoints: [at(900)], reread: '890' };
    expect(() => mergeCursors(tempo, [cursor, { ...cursor, genesis: '0x01' }])).toThrow('follow different chains');
  });
});
