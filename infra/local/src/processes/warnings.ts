import { z } from 'zod';

const logLine = z.object({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  msg: z.string().default(''),
  err: z.object({ message: z.string().optional() }).optional(),
  /** What a chain's observer warns of. */
  warning: z.string().optional(),
});
const SHOWN: readonly string[] = ['warn', 'error', 'fatal'];

/**
 * What a service's log line has to say to the person at the terminal: warnings and errors, and whatever is not a log
 * line at all (a stack trace of a crash). Null for everything else.
 */
export function warningOf(line: string): string | null {
  if (line.trim() === '') return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return line;
  }
  const entry = logLine.safeParse(parsed);
  if (!entry.success) return line;
  if (!SHOWN.includes(entry.data.level)) return null;
  const cause = entry.data.err?.message ?? entry.data.warning;
  return cause && cause !== entry.data.msg ? `${entry.data.msg} (${cause})` : entry.data.msg;
}
