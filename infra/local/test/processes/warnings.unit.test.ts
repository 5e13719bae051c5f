import { describe, expect, it } from '@jest/globals';
import { warningOf } from '../../src/processes/warnings.ts';

describe('warnings of a service at the terminal', () => {
  it('leave out log lines below warning level', () => {
    expect(warningOf('{"level":"info","msg":"started"}')).toBeNull();
    expect(warningOf('')).toBeNull();
  });

  it('include errors, each with its cause', () => {
    expect(warningOf('{"level":"warn","msg":"slow"}')).toBe('slow');
    expect(warningOf('{"level":"error","msg":"not sent","err":{"message":"refused"}}')).toBe('not sent (refused)');
    expect(
      warningOf('{"level":"warn","msg":"the observer warns","network":"base","warning":"the head fell back"}'),
    ).toBe('the observer warns (the head fell back)');
  });

  it('include a line that is not JSON unchanged, as a crash prints it', () => {
    expect(warningOf('TypeError: x is not a function')).toBe('TypeError: x is not a function');
    expect(warningOf('{"level":"strange"}')).toBe('{"level":"strange"}');
  });
});
