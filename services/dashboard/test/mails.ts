import { readFile } from 'node:fs/promises';
import { type Instance, until } from '@pf/testing';

/** The texts of the mails that a dashboard has sent to an address, oldest first. */
export async function mailsTo({ log }: Instance, to: string): Promise<readonly string[]> {
  return (
    (await readFile(log, 'utf8'))
      .split('\n')
      // What follows the last end of a line is not whole.
      .slice(0, -1)
      .filter((line) => line.includes('"mail":'))
      .map((line) => (JSON.parse(line) as { mail: { to: string; text: string } }).mail)
      .filter((mail) => mail.to === to)
      .map(({ text }) => text)
  );
}

/** The token in the newest mail to an address that has a link to this page, once there are so many. */
export async function tokenFor(dashboard: Instance, to: string, page: string, count = 1): Promise<string> {
  const tokens = await until(`a mail to ${to}`, async () => {
    const found = (await mailsTo(dashboard, to)).flatMap(
      (text) => new RegExp(`/${page}#token=(\\S+)`).exec(text)?.slice(1) ?? [],
    );
    return found.length >= count ? found : null;
  });
  return decodeURIComponent(tokens.at(-1) ?? '');
}
