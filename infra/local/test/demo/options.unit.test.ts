import { describe, expect, it } from '@jest/globals';
import { readOptions } from '../../src/demo/options.ts';

describe('the options of the demo', () => {
  it('select every chain by default, else the named ones, each once and in the usual order', () => {
    expect(readOptions([])).toEqual({ chains: ['base', 'solana', 'tempo'], scenario: 'pay' });
    expect(readOptions(['tempo', 'base', 'tempo'])).toEqual({ chains: ['base', 'tempo'], scenario: 'pay' });
  });

  it('accept --drop, --fail and --sound before or after the chain', () => {
    expect(readOptions(['--drop'])).toMatchObject({ scenario: 'drop', chains: ['base', 'solana', 'tempo'] });
    expect(readOptions(['--fail', 'solana'])).toEqual({ scenario: 'fail', chains: ['solana'] });
    expect(readOptions(['--sound', 'base'])).toEqual({ scenario: 'sound', chains: ['base'] });
  });

  it('show the help', () => {
    expect(readOptions(['base', '--help'])).toBeNull();
    expect(readOptions(['-h'])).toBeNull();
  });

  it.each([
    [['ethereum'], 'Unknown chain: ethereum. The chains are base, solana, tempo.'],
    [['--dorp'], "Unknown option '--dorp'"],
    [['--drop=yes'], "Option '--drop' does not take an argument"],
    [['--drop', '--fail'], '--drop and --fail exclude each other: choose one.'],
    [['--sound', '--drop'], '--drop and --sound exclude each other: choose one.'],
  ])('says what is wrong with %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});
