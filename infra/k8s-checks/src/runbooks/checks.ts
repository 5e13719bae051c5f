// The commands of kubectl in docs/operations/runbooks, on a cluster with the production overlay.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { commandBlocks } from './blocks.ts';
import { runInShell } from './shell.ts';
import { expectThat, NAMESPACE, type Place, type Site } from '../upgrades.ts';

const AT = path.resolve(import.meta.dirname, '../../surroundings');
const NOTHING = '#!/bin/sh\n';
/** They need a running service or a database, which this cluster does not have: nothing runs in its pods. */
const ELSEWHERE = ['curl', 'jq', 'psql'];
/** Of the node's operating system, which is not ours. */
const OF_NODES = ['chronyc'];
/** In place of ids, which only the other check needs. */
const ANY = ['acct_…', 'key_…', 'pi_…', 'whd_…', 'whe_…', 'S3tH…'];

/** What Strimzi and External Secrets make, beside `surroundings`. */
async function makeSecrets(site: Site, certificate: string): Promise<void> {
  const make = (kind: readonly string[], name: string, ...values: readonly string[]): Promise<string> =>
    site.command('kubectl', ...['-n', NAMESPACE, 'create', ...kind, name], ...values);
  for (const role of ['archive', 'operator', 'owner'])
    await make(['secret', 'generic'], `database-${role}`, `--from-literal=DATABASE_URL=postgresql://pf_${role}@db/pf`);
  await make(['secret', 'generic'], 'pf-operator', '--from-literal=sasl.jaas.config=module required;');
  await make(['configmap'], 'kafka-ca', `--from-file=ca.crt=${certificate}`);
  await site.command(
    ...(['kubectl', '-n', 'kafka', 'create', 'secret', 'generic', 'pf-cluster-ca-cert'] as const),
    `--from-file=ca.crt=${certificate}`,
  );
}

/**
 * Runs them, after an upgrade: an emergency is too late to learn that one is wrong.
 * @returns what was proven. @throws Error with each command that does not work
 */
export async function tryRunbooks(place: Place, site: Site): Promise<string> {
  const folder = path.join(place.folder, 'runbooks');
  await mkdir(folder, { recursive: true });
  await site.command('kubectl', 'apply', '-f', path.join(AT, 'resources.yaml'));
  await site.command('kubectl', 'wait', '--for=condition=established', 'crd', '--all');
  await site.command('kubectl', 'apply', '-f', path.join(AT, 'objects.yaml'));
  await makeSecrets(site, site.certificate);
  const kubectl = [process.execPath, path.join(import.meta.dirname, 'kubectl.ts'), place.programs.cluster];
  const blocks = commandBlocks(place.root).filter(({ language }) => language === 'sh');
  const pod = (name: string): string =>
    `$(k get pods -l app.kubernetes.io/name=${name} -o jsonpath='{.items[0].metadata.name}')`;
  const complaints = await runInShell(blocks, {
    folder,
    programs: {
      kubectl: `#!/bin/sh\nexec ${kubectl.map((part) => `'${part}'`).join(' ')} "$@"\n`,
      ...Object.fromEntries([...ELSEWHERE, ...OF_NODES].map((name) => [name, NOTHING])),
    },
    environment: { KUBECONFIG: site.kubeconfig },
    placeholders: {
      ...Object.fromEntries(ANY.map((word) => [word, word.replace('…', 'any')])),
      'watcher-base-…': pod('watcher'),
      'intent-…': pod('intent'),
      'gateway-…': pod('gateway'),
    },
  });
  expectThat(
    complaints.length === 0,
    `runbooks:\n${complaints.join('\n')}\n${await readFile(path.join(folder, 'output'), 'utf8')}`,
  );
  return `runbooks: the commands of kubectl in ${blocks.length} blocks`;
}
