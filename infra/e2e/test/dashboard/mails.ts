import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stackFile, until } from '@pf/testing';
import { z } from 'zod';

const line = z.object({ mail: z.object({ to: z.string(), subject: z.string(), text: z.string() }) });

/** The link in the newest mail to an address, from the log of the stack's dashboard. */
export const mailedLink = (to: string, page: string): Promise<string> =>
  until(`a mail to ${to}`, async () => {
    const log = await readFile(path.join(path.dirname(stackFile()), 'logs', 'dashboard.log'), 'utf8');
    const mails = log.split('\n').flatMap((text) => {
      if (!text.includes('"mail"')) return [];
      const parsed = line.safeParse(JSON.parse(text));
      return parsed.success ? [parsed.data.mail] : [];
    });
    const found = mails.findLast((mail) => mail.to === to && mail.text.includes(`/${page}#`));
    return new RegExp(`https?://\\S+/${page}#\\S+`).exec(found?.text ?? '')?.[0];
  });
