import type { Logger } from '@pf/runtime';
import * as openid from 'openid-client';
import { z } from 'zod';
import { DashboardError } from '../dashboard-error.ts';

export interface OidcOptions {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What people call it. */
  readonly name: string;
}

const TIMEOUT_SECONDS = 5;
/** The metadata of the provider are read again after so long: it may have moved an endpoint. */
const METADATA_MS = 3_600_000;
const SCOPE = 'openid email profile';

/** What a sign-in is checked by when the provider leads back: kept for the browser that began it. */
const oidcChecks = z.strictObject({ state: z.string(), nonce: z.string(), codeVerifier: z.string() });
type OidcChecks = z.output<typeof oidcChecks>;

/** Some providers write the flag as a text. */
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);
const profile = z.object({
  email: z.string().optional(),
  email_verified: flag.optional(),
  name: z.string().optional(),
});

/** What the provider says of a person. */
export interface ProviderProfile {
  readonly issuer: string;
  readonly subject: string;
  /** Null if the provider has not verified one. */
  readonly email: string | null;
  readonly name: string;
}

interface Known {
  readonly configuration: Promise<openid.Configuration>;
  /** By performance.now(). */
  readonly until: number;
}

/** The OpenID provider at which people can sign in: the authorization code flow with PKCE, state and nonce. */
export class OidcProvider {
  readonly name: string;
  readonly #options: OidcOptions;
  readonly #redirectUri: string;
  readonly #log: Logger;
  #known: Known | null = null;

  /** @param origin of the dashboard */
  constructor(options: OidcOptions, origin: string, log: Logger) {
    this.name = options.name;
    this.#options = options;
    this.#redirectUri = `${origin}/sign-in/oidc`;
    this.#log = log;
  }

  /** Whether identities of this issuer are of this provider. */
  hasIssuer(issuer: string): boolean {
    // A URL has a slash at its end where the provider may write none.
    return URL.parse(issuer)?.href === this.#options.issuer.href;
  }

  /**
   * @returns where the person signs in, and the checks that complete it
   * @throws DashboardError `service.unavailable`
   */
  async begin(): Promise<{ readonly url: string; readonly checks: string }> {
    const configuration = await this.#configuration();
    const checks: OidcChecks = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      codeVerifier: openid.randomPKCECodeVerifier(),
    };
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: SCOPE,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(checks.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, checks: JSON.stringify(checks) };
  }

  /**
   * @param parameters the query with which the provider has led back
   * @throws DashboardError `oidc.refused` or `service.unavailable`
   */
  async complete(parameters: string, checks: string): Promise<ProviderProfile> {
    const { state, nonce, codeVerifier } = oidcChecks.parse(JSON.parse(checks));
    const configuration = await this.#configuration();
    const url = new URL(this.#redirectUri);
    url.search = parameters;
    try {
      const tokens = await openid.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new DashboardError('oidc.refused');
      const { iss: issuer, sub: subject } = claims;
      let said = profile.parse(claims);
      // Claims of scopes are in the token or at another endpoint, as the provider likes.
      if (said.email === undefined || said.email_verified === undefined)
        said = profile.parse(await openid.fetchUserInfo(configuration, tokens.access_token, subject));
      const { email, email_verified: isVerified, name } = said;
      return { issuer, subject, email: isVerified === true && email ? email : null, name: name ?? '' };
    } catch (error) {
      throw this.#asDashboardError(error);
    }
  }

  /** What the provider publishes about itself; a failure is not kept. */
  async #configuration(): Promise<openid.Configuration> {
    if (this.#known === null || performance.now() > this.#known.until)
      this.#known = { configuration: this.#discover(), until: performance.now() + METADATA_MS };
    try {
      return await this.#known.configuration;
    } catch (error) {
      this.#known = null;
      throw this.#unavailable(error);
    }
  }

  async #discover(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const configuration = await openid.discovery(issuer, clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      // The configuration allows this for providers on the same machine only.
      ...(issuer.protocol === 'http:' && { execute: [openid.allowInsecureRequests] }),
    });
    // Signatures of tokens are checked, though they come from the provider itself.
    openid.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  #asDashboardError(error: unknown): unknown {
    if (error instanceof DashboardError) return error;
    const isRefusal =
      error instanceof openid.AuthorizationResponseError ||
      (error instanceof openid.ResponseBodyError && error.error === 'invalid_grant') ||
      (error instanceof openid.ClientError && REFUSALS.has(error.code ?? ''));
    if (isRefusal) return new DashboardError('oidc.refused', { cause: error });
    const isFailure =
      error instanceof openid.ResponseBodyError ||
      error instanceof openid.WWWAuthenticateChallengeError ||
      error instanceof openid.ClientError ||
      error instanceof TypeError ||
      error instanceof z.ZodError;
    return isFailure ? this.#unavailable(error) : error;
  }

  #unavailable(cause: unknown): DashboardError {
    this.#log.warn(
      { err: cause, issuer: this.#options.issuer.href },
      'the identity provider does not respond as it should',
    );
    return new DashboardError('service.unavailable', {
      cause,
      message: `${this.name} does not respond as it should. Try again, or sign in with your password.`,
    });
  }
}

/** What is wrong with the response that the browser or the provider has brought, for this sign-in. */
const REFUSALS: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
]);
