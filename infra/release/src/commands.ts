import { z } from 'zod';

/** A program with its arguments, which no shell reads. */
export type Command = readonly [file: string, ...args: string[]];

/** What a release is made of. */
export interface Release {
  /** `1.2.0` */
  readonly version: string;
  readonly commit: string;
  /** When the commit was made, in seconds since 1970: the only time in the image. */
  readonly committedAt: number;
  /** `images.example/payment-intents`, without a tag. */
  readonly image: string;
  /** What the image is built on: `node:24-slim@sha256:…`. */
  readonly base: string;
  /** The list of all packages in the lockfile, in CycloneDX. */
  readonly sbom: string;
  /** Where the build writes the digest of what it has pushed. */
  readonly metadata: string;
}

const BUILDER = 'payment-intents-release';
/** Only a builder in a container writes attestations and times of our choice. */
export const CREATE_BUILDER: Command = [
  'docker',
  ...['buildx', 'create', '--name', BUILDER, '--driver', 'docker-container'],
];
export const REMOVE_BUILDER: Command = ['docker', 'buildx', 'rm', '--force', BUILDER];

/** Prints the digest that a tag of the base has now. */
export const digestOf = (base: string): Command => [
  'docker',
  ...['buildx', 'imagetools', 'inspect', base, '--format', '{{.Manifest.Digest}}'],
];

/** Builds the image, with its provenance beside it, and pushes both. The same commit and base give the same layers. */
export function build({ version, commit, committedAt, image, base, metadata }: Release): Command {
  const args = { NODE_IMAGE: base, VERSION: version, REVISION: commit, SOURCE_DATE_EPOCH: String(committedAt) };
  return [
    'docker',
    ...['buildx', 'build', '--builder', BUILDER, '--file', 'infra/docker/Dockerfile', '--platform', 'linux/amd64'],
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['--provenance', 'mode=max', '--metadata-file', metadata],
    ...['--output', `type=image,name=${image}:${version},push=true,rewrite-timestamp=true`, '.'],
  ];
}

/** Lists what the lockfile names, without asking any network. */
export const listPackages = (cdxgen: string, { sbom }: Pick<Release, 'sbom'>): Command => [
  process.execPath,
  ...[
    cdxgen,
    '--type',
    'pnpm',
    '--no-install-deps',
    '--no-recurse',
    '--no-babel',
    '--spec-version',
    '1.6',
    '--output',
    sbom,
    '.',
  ],
];

/** Signs the image and its provenance by their digest, and attests the list; the identity is that of the workflow. */
export const sign = ({ image, sbom }: Release, digest: string): readonly Command[] => [
  ['cosign', 'sign', '--yes', `${image}@${digest}`],
  ['cosign', 'attest', '--yes', '--type', 'cyclonedx', '--predicate', sbom, `${image}@${digest}`],
];

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is no digest');
const metadataFile = z.object({ 'containerimage.digest': digest });

/** @throws Error if it is no digest */
export const readDigest = (text: string): string => digest.parse(text.trim());

/** @param text of the file that a build writes. @returns the digest of what it has pushed */
export const pushedDigest = (text: string): string => metadataFile.parse(JSON.parse(text))['containerimage.digest'];

const sbomFile = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(z.object({ purl: z.string() })),
});

/** @param text of the list. @returns how many packages it names */
export const listedPackages = (text: string): number => sbomFile.parse(JSON.parse(text)).components.length;
