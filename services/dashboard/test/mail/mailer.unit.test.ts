import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@pf/runtime';
import { createMailer } from '../../src/mail/mailer.ts';
import { mailsOf } from '../../src/mail/mails.ts';

describe('the mailer', () => {
  it('sends by SMTP in the background, again after a failure, and completes it before it closes', async () => {
    const messages: string[] = [];
    let refusals = 1;
    const server = createServer((socket) => {
      const say = (line: string) => socket.write(`${line}\r\n`);
      let data: string[] | null = null;
      createInterface({ input: socket }).on('line', (line) => {
        if (data && line === '.') {
          messages.push(data.join('\n'));
          data = null;
          say('250 queued');
        } else if (data) data.push(line);
        else if (line.startsWith('RCPT') && refusals-- > 0) say('451 try again later');
        else if (line === 'DATA') {
          data = [];
          say('354 go ahead');
        } else say(line === 'QUIT' ? '221 bye' : '250 ok');
      });
      socket.on('error', () => undefined);
      say('220 test');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const log = createLogger('test', 'silent');
    const mailer = createMailer({ url: `smtp://127.0.0.1:${port}`, from: 'shop@dashboard.example', log });
    const mails = mailsOf('https://dashboard.example');
    mailer.send(mails.resetPassword('olivia@shop.example', 'a&b'));
    mailer.send(mails.alreadyRegistered('olivia@shop.example'));
    while (messages.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await mailer.close();
    server.close();
    await once(server, 'close');
    expect(messages.join('\n')).toContain('Subject: You are registered already');
    // `=3D` is `=` in quoted-printable text.
    expect(messages.join('\n').replaceAll('=3D', '=').replaceAll('=\n', '')).toContain(
      'https://dashboard.example/reset-password#token=a%26b',
    );
  });
});
