import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { build, listedPackages, pushedDigest, readDigest, type Release, sign } from '../src/commands.ts';
import { type State, versionToRelease } from '../src/state.ts';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const release: Release = {
  version: '1.2.0',
  commit: '5f2c1ab0d3e4f5061728394a5b6c7d8e9f001122',
  committedAt: 1_790_000_000,
  image: 'images.example/payment-intents',
  base: `node:24-slim@${DIGEST}`,
  sbom: '.release/payment-intents-1.2.0.cdx.json',
  metadata: '.release/build.json',
};
const ready: State = {
  tags: ['v1.2.0', 'reviewed'],
  changed: [],
  versions: new Map([
    ['package.json', '1.2.0'],
    ['services/gateway/package.json', '1.2.0'],
  ]),
  chart: ['1.2.0', '1.2.0'],
  changelog: '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n',
  networks: '| Network | Fact | Source | Read |\n| Base | A block takes 200 ms | docs.base.org | 2026-11-27 |\n',
  // 90 days later.
  today: '2027-02-25',
  image: release.image,
};

describe('versionToRelease', () => {
  it('returns the version that the tag, the packages, the chart and the changelog have', () => {
    expect(versionToRelease(ready)).toEqual({ version: '1.2.0' });
  });

  it.each<[string, Partial<State>, string]>([
    ['no tag', { tags: ['reviewed'] }, '0 tags such as v1.2.0.'],
    ['two versions', { tags: ['v1.2.0', 'v1.3.0'] }, '2 tags such as v1.2.0: v1.2.0, v1.3.0.'],
    ['changed files', { changed: ['README.md'] }, 'README.md'],
    ['a package of another version', { versions: new Map([['infra/e2e/package.json', '1.1.0']]) }, 'e2e/package.json'],
    ['a chart of another version', { chart: ['1.2.0', '1.1.0'] }, 'k8s/chart/Chart.yaml has 1.2.0 and 1.1.0'],
    ['no section in the changelog', { changelog: '## [Unreleased]\n' }, '## [1.2.0]'],
    ['a fact that was read 91 days ago', { today: '2027-02-26' }, 'Base: A block takes 200 ms (2026-11-27)'],
    ['no facts', { networks: '# Networks\n' }, 'docs/operations/networks.md has no fact with the date'],
    ['no image', { image: undefined }, 'IMAGE is not set'],
    ['an image with a tag', { image: 'images.example/payment-intents:1.2.0' }, ':1.2.0'],
  ])('says what to fix: %s', (_, state, said) => {
    expect(versionToRelease({ ...ready, ...state })).toEqual({ problems: [expect.stringContaining(said)] });
  });
});

describe('docs/operations/networks.md', () => {
  it('has facts whose dates a release can read, each with its source', () => {
    const networks = readFileSync(path.join(import.meta.dirname, '../../../docs/operations/networks.md'), 'utf8');
    const rows = networks.slice(networks.indexOf('## Facts')).match(/^\| (Solana|Base|Tempo) .*$/gm) ?? [];
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) expect(row).toMatch(/^\| \w+ +\| \S.+ \| \S.+ \| 20\d\d-\d\d-\d\d \|$/);
    const stale = versionToRelease({ ...ready, networks, today: '2099-01-01' });
    expect('problems' in stale && stale.problems[0]?.match(/\(20\d\d-\d\d-\d\d\)/g)).toHaveLength(rows.length);
  });
});

describe('the build of a release', () => {
  const text = build(release).join(' ');

  it('sets arguments that the Dockerfile declares, and all of these that have no default', () => {
    const dockerfile = readFileSync(path.join(import.meta.dirname, '../../docker/Dockerfile'), 'utf8');
    const declared = new Map(
      [...dockerfile.matchAll(/^ARG (\w+)(=.*)?$/gm)].map(([, name = '', value]) => [name, value]),
    );
    const set = [...text.matchAll(/--build-arg (\w+)=/g)].map(([, name = '']) => name);
    expect(set.filter((name) => !declared.has(name))).toEqual([]);
    expect([...declared].flatMap(([name, value]) => (value === undefined ? [name] : [])).toSorted()).toEqual(
      set.filter((name) => declared.get(name) === undefined).toSorted(),
    );
  });

  it('pins the base by its digest, records its provenance, and has no time but that of the commit', () => {
    expect(text).toContain(`NODE_IMAGE=node:24-slim@${DIGEST}`);
    expect(text).toContain('--provenance mode=max');
    expect(text).toContain('SOURCE_DATE_EPOCH=1790000000');
    expect(text).toContain('rewrite-timestamp=true');
  });

  it('signs and attests what it has pushed, by its digest', () => {
    const digest = pushedDigest(JSON.stringify({ 'containerimage.digest': DIGEST, 'image.name': 'x' }));
    for (const command of sign(release, digest))
      expect(command.at(-1)).toBe(`images.example/payment-intents@${DIGEST}`);
    expect(() => pushedDigest('{"containerimage.digest":"latest"}')).toThrow('is no digest');
    expect(() => readDigest('node:24-slim\n')).toThrow('is no digest');
    expect(readDigest(`${DIGEST}\n`)).toBe(DIGEST);
  });

  it('accepts a list of packages in CycloneDX only', () => {
    const components = [{ purl: 'pkg:npm/zod@4.6.7' }];
    expect(listedPackages(JSON.stringify({ bomFormat: 'CycloneDX', components }))).toBe(1);
    expect(() => listedPackages(JSON.stringify({ bomFormat: 'SPDX', components }))).toThrow('CycloneDX');
  });
});
