import { z } from 'zod';

const logLine = z.object({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  msg: z.string().default(''),
  err: z.object({ message: z.string().optional() }).optional(),
  /** The warning of a chain's observer. */
  warning: z.string().optional(),
});
const SHOWN: readonly string[] = ['warn', 'error', 'fatal'];

/**
 * What the terminal shows of a service's log line: warnings, errors, and lines that are no log lines (the stack trace
 * of a crash). Null for everything else.
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
