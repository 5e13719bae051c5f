import { z } from 'zod';

const logLine = z.object({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  msg: z.string().default(''),
  err: z.object({ message: z.string().optional() }).optional(),
  /** The warning of a chain's observer. */
  warning: z.string().optional(),
  /** A mail that is logged instead of sent. */
  mail: z.object({ to: z.string(), subject: z.string(), text: z.string() }).optional(),
});
/** With a token, which only the mail has. */
const LINK = /^https?:\/\/\S+#\S+$/m;
const SHOWN: readonly string[] = ['warn', 'error', 'fatal'];

/**
 * What the terminal shows of a service's log line: warnings, errors, mails with their links, and lines that are no log
 * lines (the stack trace of a crash). Null for everything else.
 */
export function terminalLineOf(line: string): string | null {
  if (line.trim() === '') return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return line;
  }
  const entry = logLine.safeParse(parsed);
  if (!entry.success) return line;
  const { mail } = entry.data;
  if (mail) return `mail to ${mail.to}: ${mail.subject} ${LINK.exec(mail.text)?.[0] ?? ''}`.trimEnd();
  if (!SHOWN.includes(entry.data.level)) return null;
  const cause = entry.data.err?.message ?? entry.data.warning;
  return cause && cause !== entry.data.msg ? `${entry.data.msg} (${cause})` : entry.data.msg;
}
