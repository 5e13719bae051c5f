import { readdirSync, readFileSync } from 'node:fs';

/** proc(5): hundredths of a second. */
const TICKS_A_SECOND = 100;

/**
 * The fields of /proc/<pid>/stat from the third on: the second, the name, may have spaces. None where there is no
 * /proc, and of a process that has ended: its figures are NaN then, and the others have to do.
 */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}

const parentIn = (stat: readonly string[]): number => Number(stat[1]);
const secondsIn = (stat: readonly string[]): number => (Number(stat[11]) + Number(stat[12])) / TICKS_A_SECOND;
/** Of its children that have ended. */
const endedSecondsIn = (stat: readonly string[]): number => (Number(stat[13]) + Number(stat[14])) / TICKS_A_SECOND;

/** Seconds of CPU that a process itself has used. */
export const cpuSecondsOf = (pid: number): number => secondsIn(statOf(pid));

/** The process that started this one, as Postgres' first one starts its backends. */
export const parentOf = (pid: number): number => parentIn(statOf(pid));

/** Seconds of CPU that all children of a process have used, those that have ended too. */
export function cpuSecondsOfChildren(parent: number): number {
  const ended = endedSecondsIn(statOf(parent));
  if (Number.isNaN(ended)) return ended;
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => parentIn(stat) === parent);
  return running.reduce((sum, stat) => sum + secondsIn(stat), ended);
}
