import { within } from '@pf/runtime';
import { MIN_LIFETIME_S, type TokenProvider } from './bearer-token.ts';

/** What the SDK's credentials have. */
interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** MSK refuses what is signed for longer. */
const LIFETIME_S = 900;
/** The SDK waits forever for an endpoint of credentials that takes a connection and says nothing. */
const CREDENTIALS_MS = 10_000;

interface Settings {
  /** A chain of sources of credentials. Default: the SDK's (environment, profile, web identity, container, machine). */
  readonly credentials?: () => Promise<() => Promise<AwsCredentials>>;
  readonly timeoutMs?: number;
}

/**
 * Signs tokens for Amazon MSK with IAM: presigned URLs of the action `kafka-cluster:Connect` in base64url, as
 * Amazon's own signers make them. A token ends with the credentials that have signed it.
 */
export function mskIamTokens(
  region: string,
  { credentials = sdkCredentials, timeoutMs = CREDENTIALS_MS }: Settings = {},
): TokenProvider {
  let chain: (() => Promise<AwsCredentials>) | null = null;
  const identify = async (): Promise<AwsCredentials> => {
    chain ??= await credentials();
    const found = await within(timeoutMs, chain());
    if (found !== undefined) return found;
    // It would go on waiting for the same request.
    chain = null;
    throw new Error(`No source has responded within ${timeoutMs / 1_000} s.`);
  };
  return async () => {
    // Loaded when they are first used: other clusters do without.
    const [{ SignatureV4 }, { Sha256 }, { buildQueryString }] = await Promise.all([
      import('@smithy/signature-v4'),
      import('@smithy/core/checksum'),
      import('@smithy/core/protocols'),
    ]);
    const identity = await identify().catch((error: Error) => {
      // Without its cause, which may have the request with its headers.
      throw new Error(
        `There are no AWS credentials for Kafka: ${error.message.replace(/\.?$/, '.')} Give the service account a ` +
          'role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
      );
    });
    const signingDate = new Date();
    const leftMs = (identity.expiration?.getTime() ?? Infinity) - signingDate.getTime();
    if (leftMs < MIN_LIFETIME_S * 1_000)
      throw new Error(
        `The AWS credentials for Kafka end at ${identity.expiration?.toISOString()}, and were not renewed. Check ` +
          'whether the pod reaches their source.',
      );
    const hostname = `kafka.${region}.amazonaws.com`;
    const signer = new SignatureV4({
      service: 'kafka-cluster',
      region,
      credentials: identity,
      sha256: Sha256,
      applyChecksum: false,
    });
    const { query = {} } = await signer.presign(
      {
        method: 'GET',
        protocol: 'https:',
        hostname,
        path: '/',
        query: { Action: 'kafka-cluster:Connect' },
        headers: { host: hostname },
      },
      { expiresIn: LIFETIME_S, signingDate },
    );
    // Not signed, as in Amazon's own signers.
    const url = `https://${hostname}/?${buildQueryString({ ...query, 'User-Agent': 'payment-intents' })}`;
    return { value: Buffer.from(url).toString('base64url'), lifetimeMs: Math.min(LIFETIME_S * 1_000, leftMs) };
  };
}

async function sdkCredentials(): Promise<() => Promise<AwsCredentials>> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider();
}
