import { describe, expect, it } from '@jest/globals';
import { choice, count, counts, flag, readCommandLine, word } from '../src/command-line.ts';

const COMMAND = {
  name: 'npm run measure',
  about: 'Measures something.',
  operands: { takes: '[CASE]', about: 'One of the cases', most: 1 },
  options: {
    rounds: count('Turns', 3, { most: 1_000 }),
    share: count('Of all', 0.5, { least: 0, most: 1, step: null }),
    clients: counts('At once', [1, 64], { most: 100 }),
    network: choice('Where', ['base', 'tempo'], 'base'),
    only: word('Part of a name', ''),
    json: flag('As JSON'),
  },
};
const read = (...args: string[]) => readCommandLine(args, COMMAND);

describe('a command line', () => {
  it('has what is given, and otherwise what is usual', () => {
    const usual = { rounds: 3, share: 0.5, clients: [1, 64], network: 'base', only: '', json: false };
    expect(read()).toEqual({ kind: 'run', values: usual, operands: [] });
    const given = [
      '--rounds=5',
      '--share',
      '0.25',
      '--clients',
      '4,8',
      '--network',
      'tempo',
      '--only',
      'a b',
      '--json',
    ];
    expect(read(...given, 'first')).toEqual({
      kind: 'run',
      values: { rounds: 5, share: 0.25, clients: [4, 8], network: 'tempo', only: 'a b', json: true },
      operands: ['first'],
    });
  });

  it('is explained, each option with what is usual', () => {
    const text = [
      'npm run measure -- [OPTION …] [CASE]',
      '',
      'Measures something.',
      '',
      '  [CASE]                One of the cases',
      '  --rounds N            Turns (3)',
      '  --share N             Of all (0.5)',
      '  --clients N,N         At once (1,64)',
      '  --network base|tempo  Where (base)',
      '  --only WORD           Part of a name',
      '  --json                As JSON',
      '  --help                Show this help',
    ].join('\n');
    expect(read('--rounds', 'x', '--help')).toEqual({ kind: 'help', text });
    expect(read('-h')).toEqual({ kind: 'help', text });
  });

  it.each([
    [['--round', '5'], "Unknown option '--round'."],
    [['--rounds'], "Option '--rounds <value>' argument missing."],
    [['--rounds', '1.5'], '--rounds: "1.5" is not a whole number from 1 to 1,000.'],
    [['--rounds', ''], '--rounds: "" is not a whole number from 1 to 1,000.'],
    [['--rounds', '1', '--rounds', '2'], '--rounds: "1,2" is not a whole number from 1 to 1,000.'],
    [['--share', '2'], '--share: "2" is not a number from 0 to 1.'],
    [['--clients', '4,0'], '--clients: "0" is not a whole number from 1 to 100.'],
    [['--network', 'solana'], '--network: "solana" is none of base, tempo.'],
    [['first', 'second'], '"second" is not expected.'],
  ])('is refused in one sentence: %j', (args, problem) => {
    expect(read(...args)).toEqual({ kind: 'wrong', problem });
  });

  it('has only multiples where an option wants these', () => {
    const command = { name: '', about: '', options: { rows: count('', 4, { most: 100, step: 4 }) } };
    expect(readCommandLine(['--rows', '6'], command)).toEqual({
      kind: 'wrong',
      problem: '--rows: "6" is not a multiple of 4 from 1 to 100.',
    });
  });
});
