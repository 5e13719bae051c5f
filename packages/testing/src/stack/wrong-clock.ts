import { globSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const LIBRARIES = [
  '/usr/lib/*/faketime/libfaketimeMT.so.1',
  path.join(import.meta.dirname, '../../../../.tools/faketime/usr/lib/*/faketime/libfaketimeMT.so.1'),
];

/** The wall clock of a process that a test starts; its steady clock stays as it is. */
export interface WrongClock {
  /** The environment of a process that has this clock. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock, also of a process that runs; seconds ahead of true time, negative for behind. */
  set(seconds: number): void;
}

/** @throws Error where libfaketime is not installed; the bootstrap of `npm test` gets it */
export function wrongClock(seconds: number): WrongClock {
  const [library] = globSync(LIBRARIES);
  if (library === undefined) throw new Error('There is no libfaketime. Install it: `apt-get install faketime`.');
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'pf-clock-')), 'offset');
  const set = (ahead: number): void => writeFileSync(file, `${ahead < 0 ? '' : '+'}${ahead}s\n`);
  set(seconds);
  return {
    set,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // The file is read again at every look at the clock.
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // The name of the former setting before libfaketime 0.9.9.
      DONT_FAKE_MONOTONIC: '1',
    },
  };
}
