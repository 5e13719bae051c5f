// `npm run release`: builds the image of the tag that is checked out, pushes it with its provenance, signs it, and
// attests the list of its packages. Made for .github/workflows/ci.yml; docs/operations/release.md says more.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  build,
  type Command,
  CREATE_BUILDER,
  digestOf,
  listedPackages,
  listPackages,
  pushedDigest,
  readDigest,
  REMOVE_BUILDER,
  sign,
} from './commands.ts';
import { versionToRelease } from './state.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const OUTPUT = '.release';

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** Shows what it says as it comes. @throws Error if it fails */
function run([file, ...args]: Command, environment = process.env): void {
  say(`+ ${file} ${args.join(' ')}`);
  execFileSync(file, args, { cwd: ROOT, env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** @returns what it prints */
const output = ([file, ...args]: Command): string => execFileSync(file, args, { cwd: ROOT, encoding: 'utf8' });
const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

function versionHere(): string {
  const manifests = globSync(
    ['package.json', '{packages,services,infra}/*/package.json', 'services/*/web/package.json'],
    {
      cwd: ROOT,
    },
  );
  const found = versionToRelease({
    tags: lines(output(['git', 'tag', '--points-at', 'HEAD'])),
    changed: lines(output(['git', 'status', '--porcelain'])).map((line) => line.slice(3)),
    versions: new Map(manifests.map((file) => [file, /"version": "([^"]+)"/.exec(read(file))?.[1] ?? 'no version'])),
    chart: [...read('k8s/chart/Chart.yaml').matchAll(/^(?:version|appVersion): (\S+)$/gm)].map(([, text = '']) => text),
    changelog: read('CHANGELOG.md'),
    networks: read('docs/operations/networks.md'),
    today: new Date().toISOString().slice(0, 10),
    image: process.env['IMAGE'],
  });
  if ('version' in found) return found.version;
  say(found.problems.join('\n'));
  process.exit(1);
}

/** The generator reads the lockfile and nothing of ours beside it: no login, no token of the workflow. */
function listAll(command: Command): void {
  const home = mkdtempSync(path.join(tmpdir(), 'release-'));
  try {
    run(command, { PATH: process.env['PATH'], HOME: home });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const version = versionHere();
const image = process.env['IMAGE'] ?? '';
const baseTag = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('infra/docker/Dockerfile'))?.[1] ?? '';
mkdirSync(path.join(ROOT, OUTPUT), { recursive: true });
const release = {
  version,
  commit: output(['git', 'rev-parse', 'HEAD']).trim(),
  committedAt: Number(output(['git', 'log', '-1', '--format=%ct'])),
  image,
  base: `${baseTag}@${readDigest(output(digestOf(baseTag)))}`,
  sbom: `${OUTPUT}/payment-intents-${version}.cdx.json`,
  metadata: `${OUTPUT}/build.json`,
};
listAll(listPackages(process.env['CDXGEN'] ?? '', release));
say(`${release.sbom}: ${listedPackages(read(release.sbom))} packages`);
run(CREATE_BUILDER);
try {
  run(build(release));
} finally {
  run(REMOVE_BUILDER);
}
const digest = pushedDigest(read(release.metadata));
for (const command of sign(release, digest)) run(command);
process.stdout.write(`${image}:${version}@${digest}\n`);
