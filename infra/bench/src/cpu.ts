import { readdirSync, readFileSync } from 'node:fs';

/** proc(5): hundredths of a second. */
const TICKS_A_SECOND = 100;

/** The fields of /proc/<pid>/stat from the third on: the second, the name, may have spaces. */
const statOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];

/** Seconds of CPU that a process has used; NaN where there is no /proc: the other figures have to do. */
export function cpuSecondsOf(pid: number): number {
  try {
    const fields = statOf(pid);
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** Seconds of CPU that the running children of the parent of this process have used, as the backends of Postgres. */
export function cpuSecondsBeside(pid: number): number {
  try {
    const parent = statOf(pid)[1];
    const siblings = readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && statOf(Number(name))[1] === parent;
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });
    return siblings.map((sibling) => cpuSecondsOf(Number(sibling))).reduce((sum, seconds) => sum + seconds, 0);
  } catch {
    return Number.NaN;
  }
}
