import { readdirSync, readFileSync } from 'node:fs';

/** proc(5): hundredths of a second. */
const TICKS_A_SECOND = 100;

/** The fields of /proc/<pid>/stat from the third on: the second, the name, may have spaces. */
const statOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];

/** Seconds of CPU that a process itself has used; NaN where there is no /proc: the other figures have to do. */
export function cpuSecondsOf(pid: number): number {
  try {
    const fields = statOf(pid);
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** The process that started this one, as Postgres' first one starts its backends; NaN where there is no /proc. */
export function parentOf(pid: number): number {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return Number.NaN;
  }
}

/** Seconds of CPU that all children of a process have used, those that have ended too; NaN where there is no /proc. */
export function cpuSecondsOfChildren(parent: number): number {
  try {
    const fields = statOf(parent);
    const ended = (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND;
    const running = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(Number(name)) === parent);
    return running.reduce((sum, child) => sum + cpuSecondsOf(Number(child)), ended);
  } catch {
    return Number.NaN;
  }
}
