import { networks, resolveChain } from '@pf/chains';
import { OPERATIONS, setSponsorRequest, type ShownSponsor, urlProblem } from '@pf/contracts';
import { type Database, findSponsors, type Keyring, removeSponsor, setSponsor, type Sponsor } from '@pf/database';
import { readBody } from '@pf/http';
import { ApiError, validationFailed } from '../api-error.ts';
import type { Endpoint } from '../endpoint.ts';
import { resolveAdapter } from '../intents/destination.ts';
import type { Adapters } from '../intents/lookup.ts';

export interface SponsorDependencies {
  readonly adapters: Adapters;
  readonly database: Database;
  readonly keyring: Keyring;
  readonly now: () => number;
  /** Whether live transactions may go to http:// URLs. */
  readonly webhookAllowHttp: boolean;
}

const chainsOf = (livemode: boolean) =>
  networks.filter((network) => network.livemode === livemode).map(({ chain }) => chain);

/** PUT /sponsors/{chain}. */
export const putSponsor = ({ adapters, database, keyring, now, webhookAllowHttp }: SponsorDependencies): Endpoint => ({
  operation: OPERATIONS.setSponsor,
  async handle({ holder, request, response }) {
    const { url: text, headers = {}, context = {} } = await readBody(request, response, setSponsorRequest);
    const { network, sponsoring, paymasters } = resolveAdapter(
      adapters,
      String(request.params['chain']),
      holder.livemode,
    );
    const { chain, livemode } = network;
    if (!sponsoring && !paymasters)
      throw new ApiError('chain.not_available', {
        message: `No sponsor can be set on ${chain}: there the service asks no other for the fee of a payer.`,
        param: 'chain',
        details: { chain },
      });
    const url = text.trim();
    const problem = urlProblem(url, { httpAllowed: !livemode || webhookAllowHttp, purpose: 'sponsor' });
    if (problem !== null) throw validationFailed([{ param: 'url', message: `url ${problem}` }]);
    if (!paymasters && Object.keys(context).length > 0)
      throw validationFailed([
        { param: 'context', message: `context is for paymasters, and the sponsor of ${chain} is none: leave it out` },
      ]);
    const sponsor = { chain, url, headers, context, updatedAt: new Date(now()) };
    await setSponsor(database, keyring, holder.accountId, sponsor);
    return { status: 200, body: { sponsor: shown(sponsor, livemode) } };
  },
});

/** GET /sponsors. */
export const listSponsors = ({ database, keyring }: SponsorDependencies): Endpoint => ({
  operation: OPERATIONS.listSponsors,
  async handle({ holder: { accountId, livemode } }) {
    const sponsors = await findSponsors(database, keyring, accountId, chainsOf(livemode));
    return { status: 200, body: { sponsors: sponsors.map((sponsor) => shown(sponsor, livemode)) } };
  },
});

/** DELETE /sponsors/{chain}. */
export const deleteSponsor = ({ database }: SponsorDependencies): Endpoint => ({
  operation: OPERATIONS.removeSponsor,
  async handle({ holder: { accountId, livemode }, request }) {
    const network = resolveChain(String(request.params['chain']), livemode);
    if (!network || !(await removeSponsor(database, accountId, network.chain))) throw new ApiError('sponsor.not_found');
    return { status: 200, body: { chain: network.chain, removed: true } };
  },
});

const shown = ({ chain, url, headers, context, updatedAt }: Sponsor, livemode: boolean): ShownSponsor => ({
  chain,
  origin: new URL(url).origin,
  headers: Object.keys(headers).sort(),
  context: Object.keys(context).sort(),
  updatedAt: updatedAt.toISOString(),
  livemode,
});
