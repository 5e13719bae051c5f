import { describe, expect, it } from '@jest/globals';
import { terminalLineOf } from '../../src/processes/terminal-line.ts';

describe('lines of a service at the terminal', () => {
  it('leave out log lines below warning level', () => {
    expect(terminalLineOf('{"level":"info","msg":"started"}')).toBeNull();
    expect(terminalLineOf('')).toBeNull();
  });

  it('include errors, each with its cause', () => {
    expect(terminalLineOf('{"level":"warn","msg":"slow"}')).toBe('slow');
    expect(terminalLineOf('{"level":"error","msg":"not sent","err":{"message":"refused"}}')).toBe('not sent (refused)');
    expect(
      terminalLineOf('{"level":"warn","msg":"the observer warns","network":"base","warning":"the head fell back"}'),
    ).toBe('the observer warns (the head fell back)');
  });

  it('include mails that are not sent, each with its link', () => {
    const link = 'http://127.0.0.1:4004/verify-email#token=abc';
    const mail = (text: string): string =>
      JSON.stringify({ level: 'info', msg: 'a mail', mail: { to: 'nora@shop.example', subject: 'Confirm', text } });
    expect(terminalLineOf(mail(`Open this link:\n\n${link}\n\nIf you did not expect it …`))).toBe(
      `mail to nora@shop.example: Confirm ${link}`,
    );
    expect(terminalLineOf(mail('Sign in at http://127.0.0.1:4004/.'))).toBe('mail to nora@shop.example: Confirm');
  });

  it('include a line that is not JSON unchanged, as a crash prints it', () => {
    expect(terminalLineOf('TypeError: x is not a function')).toBe('TypeError: x is not a function');
    expect(terminalLineOf('{"level":"strange"}')).toBe('{"level":"strange"}');
  });
});
