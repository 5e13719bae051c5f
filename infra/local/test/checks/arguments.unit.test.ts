import { describe, expect, it } from '@jest/globals';
import { readArguments } from '../../src/checks/arguments.ts';

describe('the arguments of npm test', () => {
  it('stand for unit, integration and e2e when there are none', () => {
    const { phases, paths, help } = readArguments([]);
    expect([...phases]).toEqual(['unit', 'integration', 'e2e']);
    expect(paths).toEqual([]);
    expect(help).toBe(false);
  });

  it('name phases, and paths of test files', () => {
    const { phases, paths } = readArguments(['integration', 'services/gateway/', 'mpp.e2e.test.ts', 'e2e']);
    expect([...phases]).toEqual(['integration', 'e2e']);
    expect(paths).toEqual(['services/gateway/', 'mpp.e2e.test.ts']);
  });

  it('are refused in one line when an option or a phase is unknown', () => {
    expect(() => readArguments(['--foo'])).toThrow(/^Unknown option '--foo'\. See `npm test -- --help`\.$/u);
    expect(() => readArguments(['integratoin'])).toThrow(/^Unknown phase: integratoin\. The phases are types, lint/u);
  });

  it('ask for help', () => {
    expect(readArguments(['--help']).help).toBe(true);
  });
});
