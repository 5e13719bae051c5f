import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const { debian } = (await import(path.join(import.meta.dirname, '../../setup/debian.mjs'))) as {
  debian: (packages: string[], folder: string, needed?: RegExp) => Promise<void>;
};

/** In place of Debian's: packages are folders, and what a package needs is written down. */
const APT = `#!/bin/sh
for last; do :; done
case " $* " in
  *" -s install "*) printf 'Inst libc6 (1)\\nInst libone (1)\\nInst two-java (1)\\nInst %s (1)\\n' "$last" ;;
  *" download "*) echo "$@" >> "$ARCHIVE/asked"; for name; do [ -d "$ARCHIVE/$name" ] && : > "$name.deb"; done; true ;;
esac
`;
const DPKG = `#!/bin/sh
[ "$1" = -x ] && mkdir -p "$3" && cp -a "$ARCHIVE/$(basename "$2" .deb)/." "$3"
`;

describe('debian', () => {
  let folder: string;
  const before = { PATH: process.env['PATH'], ARCHIVE: process.env['ARCHIVE'] };

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'debian-'));
    const bin = path.join(folder, 'bin');
    const files = path.join(folder, 'archive/runtime/usr/lib');
    for (const made of [bin, path.join(folder, 'archive/runtime/etc/runtime'), files])
      mkdirSync(made, { recursive: true });
    for (const [name, script] of [
      ['apt-get', APT],
      ['dpkg', DPKG],
    ] as const) {
      writeFileSync(path.join(bin, name), script);
      chmodSync(path.join(bin, name), 0o755);
    }
    writeFileSync(path.join(folder, 'archive/runtime/etc/runtime/settings'), 'of the package');
    symlinkSync('/etc/runtime/settings', path.join(files, 'settings'));
    symlinkSync('/etc/made/on/installation', path.join(files, 'certificates'));
    symlinkSync('settings', path.join(files, 'other-name'));
    process.env['PATH'] = `${bin}:${before.PATH}`;
    process.env['ARCHIVE'] = path.join(folder, 'archive');
  });
  afterEach(() => {
    process.env['PATH'] = before.PATH;
    if (before.ARCHIVE === undefined) delete process.env['ARCHIVE'];
    rmSync(folder, { recursive: true });
  });

  it('keeps links inside the folder, except those to files that only an installation creates', async () => {
    const unpacked = path.join(folder, 'unpacked');
    await debian(['runtime'], unpacked);
    const at = (name: string): string => path.join(unpacked, 'usr/lib', name);
    expect(readlinkSync(at('settings'))).toBe('../../etc/runtime/settings');
    expect(readFileSync(at('other-name'), 'utf8')).toBe('of the package');
    expect(readlinkSync(at('certificates'))).toBe('/etc/made/on/installation');
  });

  it('downloads only dependencies whose names match', async () => {
    await debian(['runtime'], path.join(folder, 'unpacked'), /-java$/);
    expect(readFileSync(path.join(folder, 'archive/asked'), 'utf8').trim()).toMatch(/download two-java runtime$/);
  });
});
