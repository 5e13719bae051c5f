import { z } from 'zod';

const WHAT =
  'must be the URL of a folder, such as file:///var/lib/archive, or of a bucket, such as ' +
  's3://bucket/prefix?region=eu-central-1';

/** Where the archive lies, as configured: a folder, or a place in a bucket (docs/operations/archive.md). */
export const archiveUrl = z
  .url({ protocol: /^(file|s3)$/, error: WHAT })
  .transform((text) => new URL(text))
  .superRefine((url, context) => {
    const problem = url.protocol === 's3:' ? problemOf(url) : null;
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(\/[\w.-]+)*\/?$/;
const PARAMETERS = new Set(['endpoint', 'region']);

/** The URL is logged, so it cannot have credentials. */
function problemOf(url: URL): string | null {
  const { hostname, port, username, password, pathname, searchParams, hash } = url;
  if (username !== '' || password !== '')
    return 'must not have credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the process a role';
  if (!BUCKET.test(hostname) || port !== '' || hash !== '') return WHAT;
  if (!PREFIX.test(pathname)) return 'has a prefix with other characters than letters, digits, ".", "_", "-" and "/"';
  const names = [...searchParams.keys()];
  const unknown = names.find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) return `has a parameter ${unknown}: endpoint and region are known`;
  if (new Set(names).size < names.length) return 'has a parameter twice';
  const endpoint = searchParams.get('endpoint');
  return endpoint === null || isOrigin(endpoint)
    ? null
    : 'has an endpoint that is none: write it as endpoint=https://storage.example.com';
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === ''
  );
}

/** What the SDK of S3 reads, for an archive in a bucket. Absent where the process has a role. */
export const bucketVariables = {
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  AWS_REGION: z.string().optional(),
} as const;
