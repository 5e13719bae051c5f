import { describe, expect, it } from '@jest/globals';
import { warningOf } from '../../src/processes/warnings.ts';

describe("what a service's log shows at the terminal", () => {
  it('leaves out what is not a warning', () => {
    expect(warningOf('{"level":"info","msg":"started"}')).toBeNull();
    expect(warningOf('')).toBeNull();
  });

  it('shows warnings and errors with their cause', () => {
    expect(warningOf('{"level":"warn","msg":"slow"}')).toBe('slow');
    expect(warningOf('{"level":"error","msg":"not sent","err":{"message":"refused"}}')).toBe('not sent (refused)');
    expect(
      warningOf('{"level":"warn","msg":"the observer warns","network":"base","warning":"the head fell back"}'),
    ).toBe('the observer warns (the head fell back)');
  });

  it('shows a line that is no log line as it is: a crash speaks no JSON', () => {
    expect(warningOf('TypeError: x is not a function')).toBe('TypeError: x is not a function');
    expect(warningOf('{"level":"strange"}')).toBe('{"level":"strange"}');
  });
});
