import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type Instruction, stagesOf } from './dockerfile.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const stages = stagesOf('Dockerfile');
const image = stages.get('image') ?? [];
const build = stages.get('build') ?? [];
const textsOf = (name: string, stage: readonly Instruction[]): string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text);
const all = [...stages.values()].flat();
const positionOf = (part: string): number => build.findIndex(({ text }) => text.includes(part));

describe.each(['.dockerignore', 'infra/docker/chains.Dockerfile.dockerignore'])('%s', (file) => {
  it('keeps out what git keeps out: a copy would put secrets into an image, and build it again', () => {
    const ignored = new Set(readFileSync(path.join(ROOT, file), 'utf8').split('\n'));
    const generated = readFileSync(path.join(ROOT, '.gitignore'), 'utf8').trim().split('\n');
    const missing = generated
      .map((line) => line.replace(/\/$/, ''))
      .filter((name) => !ignored.has(name) && !ignored.has(`**/${name}`));
    expect(missing).toEqual([]);
  });
});

describe('the Dockerfile', () => {
  it('tells services which build they are', () => {
    expect(textsOf('ARG', image)).toContain('VERSION');
    expect(textsOf('ENV', image)[0]?.split(' ')).toContain('SERVICE_VERSION=${VERSION}');
  });

  it('gives the heap a share of the memory of its container, which no manifest changes', () => {
    expect(textsOf('ENV', image)[0]).toMatch(
      / NODE_OPTIONS="--max-old-space-size-percentage=[5-8]\d --max-semi-space-size=16"/,
    );
    const manifests = globSync(['k8s/**/*.yaml', 'docker-compose.yml'], { cwd: ROOT });
    expect(manifests.length).toBeGreaterThan(50);
    expect(manifests.filter((file) => readFileSync(path.join(ROOT, file), 'utf8').includes('NODE_OPTIONS'))).toEqual(
      [],
    );
  });

  it('installs dependencies before it copies the sources, so that they stay cached', () => {
    const order = ['--from=manifests', 'pnpm install', '. .', 'bundle.mjs', ' deploy '].map(positionOf);
    expect(order).not.toContain(-1);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(build[positionOf('pnpm install')]?.text).toContain('--frozen-lockfile');
    const found = textsOf('RUN', stages.get('manifests') ?? []).join();
    for (const name of ['package.json', 'pnpm-*.yaml', '.npmrc', 'patches']) expect(found).toContain(name);
  });

  it('sets the version in the last stage only, so other layers stay cached', () => {
    for (const [name, stage] of stages)
      expect([name, textsOf('ARG', stage).includes('VERSION')]).toEqual([name, name === 'image']);
  });

  it('starts every stage from the one base, or from scratch', () => {
    for (const text of textsOf('FROM', all)) expect(text).toMatch(/^(\$\{NODE_IMAGE\} AS \w+|scratch)$/);
  });

  it('has layers of their own for Node, packages and the bundle, in the order in which they change', () => {
    const layers = textsOf('COPY', image).map((text) => /(?<= \/layers\/)\w+/.exec(text)?.[0]);
    expect(layers).toEqual(['node', 'modules', 'bundle', undefined]);
    // What the commands put into the layers that seldom change: nothing that is built here.
    const made = textsOf('RUN', build).flatMap((text) => text.split('&&'));
    const bundled = made.filter((command) => command.includes('infra/docker/dist'));
    expect(bundled).toEqual([expect.stringContaining('--target-directory=/layers/bundle/app')]);
    expect(made.filter((command) => /\bmv\b/.test(command))).toEqual([
      ' mv /deployed/node_modules /layers/modules/app ',
    ]);
    // The same files have the same times, whichever commit they were built from.
    expect(made.at(-1)).toContain("find /layers /empty -exec touch --no-dereference --date=@0 '{}' +");
  });

  it('runs nothing in the image, which has no shell: all commands are lists of arguments', () => {
    expect(textsOf('FROM', image)).toEqual(['scratch']);
    expect(textsOf('RUN', image)).toEqual([]);
    const arrays = z.array(z.string()).min(1);
    for (const text of [...textsOf('ENTRYPOINT', image), ...textsOf('CMD', image)])
      expect(arrays.parse(JSON.parse(text))).toBeDefined();
    expect(textsOf('HEALTHCHECK', image)).toEqual([expect.stringMatching(/ CMD \["node", /)]);
  });

  it('runs as a numbered user that owns no file but the archive’s folder', () => {
    expect(textsOf('USER', image)).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
    expect(textsOf('COPY', image).map((text) => /--chown=(\S+) (\S+)/.exec(text)?.slice(1))).toEqual([
      ['0:0', '/layers/node'],
      ['0:0', '/layers/modules'],
      ['0:0', '/layers/bundle'],
      ['1000:1000', '/empty'],
    ]);
  });

  it('deletes only files that contain times, so that a build can be repeated', () => {
    expect(textsOf('ARG', image)).toContain('SOURCE_DATE_EPOCH');
    expect(textsOf('RUN', all).flatMap((text) => text.split('&&').filter((command) => /\brm\b/.test(command)))).toEqual(
      [expect.stringMatching(/^ rm --force \S*\/\.modules\.yaml\s+\S*\/\.pnpm-workspace-state\*\.json $/)],
    );
  });
});

describe('the Dockerfiles', () => {
  it.each(['Dockerfile', 'chains.Dockerfile'])('build with the pnpm version of the repository: %s', (name) => {
    const { packageManager } = z
      .object({ packageManager: z.string() })
      .parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
    const versions = [...stagesOf(name).values()]
      .flatMap((stage) => textsOf('ARG', stage))
      .filter((text) => text.startsWith('PNPM_VERSION='));
    expect(versions).toEqual([packageManager.replace('pnpm@', 'PNPM_VERSION=')]);
  });
});
