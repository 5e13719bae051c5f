import { readFileSync } from 'node:fs';

/** NODE_OPTIONS of a container whose limit leaves so much for old objects, in MB; young ones as the image has them. */
export const heapOf = (megabytes: number): string => `--max-old-space-size=${megabytes} --max-semi-space-size=16`;

/** Resident bytes of a process: now, and the most that it has had. NaN where there is no /proc. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  let status = '';
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // Not Linux, or the process has ended: the other figures have to do.
  }
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) * 1_024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}
