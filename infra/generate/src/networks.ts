// What is written once for each network, from the registry: its watcher's manifests, its place in the chart, and its
// rows in the contract and in docs/internals/chains.md.
import { type Network, networks, type Token } from '@pf/chains/networks';
import { formatted, withMarked } from './documents.ts';

const HEADER = '# Generated from packages/chains/src/networks.ts by `npm run generate`: do not edit.\n';
const CONTRACT = 'docs/reference/contract.md';
const CHAINS_PAGE = 'docs/internals/chains.md';
const SCHEMA = 'k8s/chart/values.schema.json';

interface ValuesSchema {
  readonly properties: { readonly networks: { readonly items: object } };
}

/** The watcher of one network. */
const manifest = (name: string, chain: string): string => `${HEADER}apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
nameSuffix: -${name}
resources:
  - ../../watcher
labels:
  - pairs:
      payments/network: ${name}
    includeSelectors: true
configMapGenerator:
  - name: network
    literals:
      - NETWORKS=${chain}
patches:
  # A watcher has the key of its own network alone.
  - patch: |-
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: watcher
      spec:
        template:
          spec:
            containers:
              - name: watcher
                env:
                  - name: OBSERVATION_KEYS
                    valueFrom:
                      secretKeyRef:
                        name: observation-keys
                        key: KEY_${name.toUpperCase().replaceAll('-', '_')}
`;

/** The chart's networks: those of its values by their chain ids. */
const chartNetworks = (): string => `${HEADER}${networks.map(({ name, chain }) => `${name}: ${chain}\n`).join('')}`;

/** The schema of the chart's values, with the names that `networks` takes. */
function valuesSchema(current: string): Promise<string> {
  const schema = JSON.parse(current) as ValuesSchema;
  Object.assign(schema.properties.networks.items, { enum: networks.map(({ name }) => name) });
  return formatted(SCHEMA, JSON.stringify(schema, null, 2));
}

const liveFirst = (): Network[] => [...networks].sort((one, other) => Number(other.livemode) - Number(one.livemode));

/** The contract, with its tables of networks and tokens between the marks, in the order of the registry. */
async function contract(current: string): Promise<string> {
  const rows = liveFirst().map(
    ({ label, livemode, chain }) => `| ${label} | ${livemode ? 'live' : 'test'} | \`${chain}\` |`,
  );
  const table = ['| Network | Mode | `chain` |', '| --- | --- | --- |', ...rows].join('\n');
  return withMarked(CONTRACT, await withMarked(CONTRACT, current, 'networks', table), 'tokens', tokens());
}

/** A row for each network: its tokens, with their aliases. */
function tokens(): string {
  const named = ({ symbol, aliases }: Token): string =>
    `\`${symbol}\`${aliases.length === 0 ? '' : ` (${aliases.map((alias) => `\`${alias}\``).join(', ')})`}`;
  const rows = liveFirst().map(({ label, tokens: all }) => `| ${label} | ${all.map(named).join(', ')} |`);
  return ['| Network | `token`, with its aliases |', '| --- | --- |', ...rows].join('\n');
}

/** The page about the chains, with its table of the variables of upstreams between the marks. */
function chainsPage(current: string): Promise<string> {
  const rows = [...networks]
    .sort((one, other) => one.upstreamVariable.localeCompare(other.upstreamVariable))
    .map(({ upstreamVariable, chain }) => `| \`${upstreamVariable}\` | \`${chain}\` |`);
  return withMarked(CHAINS_PAGE, current, 'networks', ['| Variable | Network |', '| --- | --- |', ...rows].join('\n'));
}

/** Makers of these files, by their paths from the root of the repository. */
export const NETWORK_FILES: Readonly<Record<string, (current: string) => string | Promise<string>>> = {
  ...Object.fromEntries(
    networks.map(({ name, chain }) => [`k8s/networks/${name}/kustomization.yaml`, () => manifest(name, chain)]),
  ),
  'k8s/chart/files/networks.yaml': chartNetworks,
  [SCHEMA]: valuesSchema,
  [CONTRACT]: contract,
  [CHAINS_PAGE]: chainsPage,
};
