// The commands of kubectl and Helm in docs/operations, on a cluster with the production overlay or the chart.
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Block, blocksOf, CHART, commandBlocks } from './blocks.ts';
import { complaining, NOTHING, runInShell } from './shell.ts';
import { expectThat, NAMESPACE, type Place, type Site } from '../upgrades.ts';

const AT = path.resolve(import.meta.dirname, '../../surroundings');
/** They need a running service or a database, which this cluster does not have: nothing runs in its pods. */
const ELSEWHERE = ['curl', 'jq', 'psql', 'redis-cli'];
/** In place of ids, which only the other check needs. */
const ANY = ['0x…', 'acct_…', 'key_…', 'pi_…', 'sha256:…', 'whd_…', 'whe_…', 'S3tH…'];

/** What Strimzi and External Secrets make, beside `surroundings`. */
async function makeSecrets(site: Site, certificate: string): Promise<void> {
  const make = (kind: readonly string[], name: string, ...values: readonly string[]): Promise<string> =>
    site.command('kubectl', ...['-n', NAMESPACE, 'create', ...kind, name], ...values);
  for (const role of ['archive', 'operator', 'owner'])
    await make(['secret', 'generic'], `database-${role}`, `--from-literal=DATABASE_URL=postgresql://pf_${role}@db/pf`);
  for (const user of ['gateway', 'operator'])
    await make(['secret', 'generic'], `pf-${user}`, '--from-literal=sasl.jaas.config=module required;');
  await site.command(
    ...(['kubectl', '-n', 'kafka', 'create', 'secret', 'generic', 'pf-cluster-ca-cert'] as const),
    `--from-file=ca.crt=${certificate}`,
  );
}

/** @param folder in which they run. @throws Error with each command that does not work */
async function tryBlocks(
  place: Place,
  site: Site,
  folder: string,
  blocks: readonly Block[],
  placeholders: Readonly<Record<string, string>> = {},
): Promise<void> {
  const kubectl = [process.execPath, path.join(import.meta.dirname, 'kubectl.ts'), place.programs.cluster];
  const complaints = await runInShell(blocks, {
    root: place.root,
    folder,
    programs: {
      kubectl: `#!/bin/sh\nexec ${kubectl.map((part) => `'${part}'`).join(' ')} "$@"\n`,
      helm: complaining(`'${place.programs.helm}'`),
      ...Object.fromEntries(ELSEWHERE.map((name) => [name, NOTHING])),
    },
    environment: { KUBECONFIG: site.kubeconfig },
    placeholders,
  });
  expectThat(
    complaints.length === 0,
    `docs/operations:\n${complaints.join('\n')}\n${await readFile(path.join(folder, 'output'), 'utf8')}`,
  );
}

/** Installs the chart as its page says. @throws Error with each command that does not work */
export async function tryChartPage(place: Place, site: Site): Promise<void> {
  const folder = path.join(place.folder, 'chart-page');
  await mkdir(folder, { recursive: true });
  await copyFile(site.certificate, path.join(folder, 'ca.crt'));
  await tryBlocks(place, site, folder, blocksOf(place.root, CHART));
}

/**
 * Runs those of all other pages, after an upgrade: an emergency is too late to learn that one is wrong.
 * @returns what was proven. @throws Error with each command that does not work
 */
export async function tryPages(place: Place, site: Site): Promise<string> {
  const folder = path.join(place.folder, 'pages');
  await mkdir(folder, { recursive: true });
  await site.command('kubectl', 'apply', '-f', path.join(AT, 'resources.yaml'));
  await site.command('kubectl', 'wait', '--for=condition=established', 'crd', '--all');
  await site.command('kubectl', 'apply', '-f', path.join(AT, 'objects.yaml'));
  await makeSecrets(site, site.certificate);
  const blocks = commandBlocks(place.root).filter(({ language }) => language === 'sh');
  const pod = (name: string): string =>
    `$(k get pods -l app.kubernetes.io/name=${name} -o jsonpath='{.items[0].metadata.name}')`;
  await tryBlocks(place, site, folder, blocks, {
    ...Object.fromEntries(ANY.map((word) => [word, word.replace('…', 'any')])),
    'watcher-base-…': pod('watcher'),
    'intent-…': pod('intent'),
    'gateway-…': pod('gateway'),
  });
  return `docs/operations: the commands of kubectl in ${blocks.length} blocks`;
}
