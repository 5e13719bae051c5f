import { count, type Logger, pause } from '@pf/runtime';
import { createTransport } from 'nodemailer';

/** A mail of plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mails in the background, so that the time of a response does not tell whether one was sent. */
export interface Mailer {
  send(mail: Mail): void;
  /** Resolves when the mails under way were sent or given up. */
  close(): Promise<void>;
}

/** Mails under way in a process; more are given up at once. */
const UNDER_WAY_MAX = 1_000;
/** Before the second and the third try; up to half of it is added. */
const PAUSES_MS = [1_000, 4_000];
const TIMEOUTS = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000, dnsTimeout: 5_000 };
/** The whole shutdown has 25 s. */
const CLOSE_MS = 10_000;

/** @param url `smtp://…`, `smtps://…`, or `log:`, which writes the mails into the log */
export function createMailer({
  url,
  from,
  log,
}: {
  readonly url: string;
  readonly from: string;
  readonly log: Logger;
}): Mailer {
  if (url === 'log:') {
    return {
      send: (mail) => log.info({ mail }, 'a mail, which is not sent'),
      close: () => Promise.resolve(),
    };
  }
  const transport = createTransport({ url, pool: true, maxConnections: 2, ...TIMEOUTS });
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  async function deliver(mail: Mail): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await transport.sendMail({ from, ...mail });
        count('payments.mails', { outcome: 'sent' });
        return;
      } catch (error) {
        const pauseMs = PAUSES_MS[tries];
        if (pauseMs === undefined || closing.signal.aborted) {
          count('payments.mails', { outcome: 'failed' });
          log.error({ err: error, subject: mail.subject }, 'a mail could not be sent');
          return;
        }
        await pause(pauseMs * (1 + Math.random() / 2), closing.signal);
      }
    }
  }

  return {
    send(mail) {
      if (underWay.size >= UNDER_WAY_MAX) {
        count('payments.mails', { outcome: 'failed' });
        log.error({ subject: mail.subject }, 'a mail was dropped: too many are in progress');
        return;
      }
      const sending = deliver(mail).finally(() => underWay.delete(sending));
      underWay.add(sending);
    },
    async close() {
      closing.abort();
      const timer = new AbortController();
      await Promise.race([Promise.allSettled(underWay), pause(CLOSE_MS, timer.signal)]);
      timer.abort();
      transport.close();
    },
  };
}
