import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A person at the provider. */
export interface Someone {
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly name?: string;
}

const CLIENT = { OIDC_CLIENT_ID: 'dashboard', OIDC_CLIENT_SECRET: 'a secret of the tests', OIDC_NAME: 'Example ID' };

/** An OpenID provider without questions: it signs in whom the test says. */
export class OpenIdProvider {
  readonly #server = createServer((request, response) => this.#listener(request, response));
  readonly #known = new Map<string, Someone>();
  #listener: RequestListener = (_request, response) => response.writeHead(503).end();
  #next: Someone | null = null;

  /** @returns the variables with which a dashboard uses it */
  async listen(): Promise<Readonly<Record<string, string>>> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return { OIDC_ISSUER: this.#issuer, ...CLIENT };
  }

  get #issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Serves the dashboard at this URL. */
  serve(dashboardUrl: string): void {
    const provider = new Provider(this.#issuer, {
      clients: [
        {
          client_id: CLIENT.OIDC_CLIENT_ID,
          client_secret: CLIENT.OIDC_CLIENT_SECRET,
          redirect_uris: [`${dashboardUrl}/sign-in/oidc`],
        },
      ],
      cookies: { keys: ['the key of the cookies of the tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      findAccount: (_ctx, subject) => {
        const { email, emailVerified, name } = this.#known.get(subject) ?? {};
        return { accountId: subject, claims: () => ({ sub: subject, email, email_verified: emailVerified, name }) };
      },
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    const callback = provider.callback();
    this.#listener = (request, response) => {
      if (request.url?.startsWith('/interaction/') !== true) {
        void callback(request, response);
        return;
      }
      const someone = this.#next;
      const outcome = someone
        ? { login: { accountId: someone.subject } }
        : { error: 'access_denied', error_description: 'The person has turned back.' };
      void provider.interactionFinished(request, response, outcome);
    };
  }

  /**
   * Goes where the dashboard leads the browser, as someone, or turns back.
   * @returns the query with which the provider leads the browser back
   */
  async signIn(url: string, someone: Someone | null): Promise<string> {
    if (someone) this.#known.set(someone.subject, someone);
    this.#next = someone;
    const cookies = new Map<string, string>();
    for (let next = url; ;) {
      const response = await fetch(next, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      await response.text();
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`The provider does not lead on: ${response.status} ${next}`);
      next = new URL(location, next).href;
      if (!next.startsWith(`${this.#issuer}/`)) return new URL(next).search.slice(1);
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
