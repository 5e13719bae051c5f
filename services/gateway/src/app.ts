import type { Database, IntentQueries, Keyring, ReservedAmounts, SignedTransactions } from '@pf/database';
import { errorHandler, methodNotAllowed, requestLog, trustProxies } from '@pf/http';
import type { WakeQueue } from '@pf/redis/wakes';
import type { Logger } from '@pf/runtime';
import type { Screening } from '@pf/screening';
import express, { type Express, type RequestHandler } from 'express';
import { ApiError, asApiError } from './api-error.ts';
import type { ApiKeys } from './api-keys.ts';
import { buildAuthorization } from './authorizations/build.ts';
import { submitAuthorization } from './authorizations/submit.ts';
import type { ClientSecrets } from './client-secrets.ts';
import type { Commands } from './commands.ts';
import { openToBrowsers, preflight } from './cors.ts';
import {
  assignDeposit,
  getDeposit,
  ignoreDeposit,
  listDeposits,
  reopenDeposit,
  unassignDeposit,
} from './deposits/deposits.ts';
import { type Endpoint, type InModes, serve } from './endpoint.ts';
import { followIntent } from './events/events.ts';
import type { Feeds } from './events/feeds.ts';
import { buildIntent } from './intents/build.ts';
import type { ColdIntents } from './intents/cold-intents.ts';
import { createIntent } from './intents/create.ts';
import type { IntentHolders } from './intent-holders.ts';
import { fetchIntent, type HasSponsor } from './intents/fetch.ts';
import { listIntents } from './intents/list.ts';
import type { Adapters } from './intents/lookup.ts';
import { Looks } from './intents/looks.ts';
import { cancelIntent, detectIntent } from './intents/plain-command.ts';
import { refundIntent } from './intents/refund.ts';
import { simulateIntent } from './intents/simulate.ts';
import { submitIntent } from './intents/submit.ts';
import { updateIntent } from './intents/update.ts';
import type { KeyUses } from './key-uses.ts';
import type { Limiter } from './limits/limiter.ts';
import type { OpenStreams } from './limits/open-streams.ts';
import type { Readings } from './limits/readings.ts';
import type { Strangers } from './limits/strangers.ts';
import type { LinkTurns } from './limits/link-turns.ts';
import type { Waits } from './limits/waits.ts';
import type { MppChallenges } from './mpp/challenges.ts';
import { payByMpp } from './mpp/pay.ts';
import { chooseOffer } from './payment-links/choose.ts';
import {
  cancelPaymentLink,
  createPaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from './payment-links/payment-links.ts';
import type { RequestRecords } from './request-records.ts';
import { reference } from './reference/reference.ts';
import type { FindSponsor } from './sponsors/cosigning.ts';
import { askPaymaster } from './sponsors/paymaster.ts';
import { deleteSponsor, listSponsors, putSponsor } from './sponsors/endpoints.ts';
import type { SponsorCalls } from './sponsors/sponsor-calls.ts';
import { deliveryAttempts } from './webhooks/attempts.ts';
import {
  createEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  removeEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from './webhooks/endpoints.ts';
import { listDeliveries } from './webhooks/list.ts';
import { cancelReplay, createReplay, getReplay, listReplays } from './webhooks/replays.ts';
import { retryDelivery } from './webhooks/retry.ts';
import { testEndpoint } from './webhooks/test.ts';

/** What requests of one mode read and write: its connections are not those of the other mode. */
interface ModeStore {
  readonly cold: Pick<ColdIntents, 'find'>;
  readonly database: Database;
  readonly intents: IntentQueries;
  readonly amounts: ReservedAmounts;
  readonly signedTransactions: SignedTransactions;
  readonly findSponsor: FindSponsor;
  readonly hasSponsor: HasSponsor;
}

export interface AppDependencies {
  readonly adapters: Adapters;
  /** Whether intents may be paid by their amount. */
  readonly payByAmount: boolean;
  /** Make and verify what opens one intent or payment link to its payer. */
  readonly clientSecrets: ClientSecrets;
  readonly commands: Commands;
  readonly feeds: Feeds;
  readonly intentHolders: Pick<IntentHolders, 'holder'>;
  readonly keys: ApiKeys;
  /** Encrypts the secrets of webhook endpoints, and what is known of sponsors. */
  readonly keyring: Keyring;
  readonly limiter: Limiter;
  readonly log: Logger;
  /** Make and verify the challenges of MPP payments. */
  readonly mppChallenges: MppChallenges;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now: () => number;
  readonly partitions: number;
  readonly readings: Pick<Readings, 'begin'>;
  /** Remembers requests for their account. */
  readonly records: Pick<RequestRecords, 'record'>;
  /** Remembers when keys were used. */
  readonly uses: Pick<KeyUses, 'used'>;
  /** Wakes the webhook services. */
  readonly wakes: Pick<WakeQueue, 'wake'>;
  readonly screening: Screening;
  readonly stores: { readonly live: ModeStore; readonly test: ModeStore };
  readonly sponsorCalls: Pick<SponsorCalls, 'ask' | 'refused'>;
  readonly strangers: Pick<Strangers, 'admit' | 'acquit'>;
  readonly streams: Pick<OpenStreams, 'open'>;
  readonly turns: Pick<LinkTurns, 'run'>;
  readonly waits: Pick<Waits, 'look' | 'read' | 'test'>;
  /** Whether live events and transactions may go to http:// URLs. */
  readonly webhookAllowHttp: boolean;
  /** Number of proxies in front of this process, whose X-Forwarded-For entries are believed. Default 0. */
  readonly trustedProxies?: number;
}

/** Every operation's. */
const ENDPOINTS: readonly ((dependencies: AppDependencies & ModeStore & { readonly looks: Looks }) => Endpoint)[] = [
  createIntent,
  listIntents,
  fetchIntent,
  updateIntent,
  buildIntent,
  submitIntent,
  buildAuthorization,
  submitAuthorization,
  askPaymaster,
  (dependencies) => payByMpp(dependencies),
  detectIntent,
  cancelIntent,
  refundIntent,
  simulateIntent,
  createPaymentLink,
  listPaymentLinks,
  getPaymentLink,
  cancelPaymentLink,
  chooseOffer,
  listDeposits,
  getDeposit,
  ignoreDeposit,
  reopenDeposit,
  assignDeposit,
  unassignDeposit,
  putSponsor,
  listSponsors,
  deleteSponsor,
  listDeliveries,
  retryDelivery,
  deliveryAttempts,
  createEndpoint,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  removeEndpoint,
  enableEndpoint,
  rotateEndpointSecret,
  testEndpoint,
  createReplay,
  listReplays,
  getReplay,
  cancelReplay,
  (dependencies) => followIntent(dependencies),
];

/**
 * The HTTP API: every request is authenticated and validated, and gets the response of its endpoint or an error body.
 */
export function createApp(dependencies: AppDependencies): Express {
  const { log, stores, strangers, trustedProxies = 0 } = dependencies;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  trustProxies(app, trustedProxies, log);
  app.use(requestLog(log));
  const admitStranger: RequestHandler = ({ ip }, _response, next) => {
    strangers.admit(ip);
    next();
  };
  const shared = { ...dependencies, looks: new Looks(dependencies) };
  const endpoints = ENDPOINTS.map((endpoint): InModes => {
    const live = endpoint({ ...shared, ...stores.live });
    return { operation: live.operation, live, test: endpoint({ ...shared, ...stores.test }) };
  });
  for (const [path, atPath] of Map.groupBy(endpoints, ({ operation }) => operation.path)) {
    // Express writes parameters as `:id`, OpenAPI as `{id}`.
    const route = app.route(`/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    // Payers' apps may call these operations from a browser.
    const forPayers = atPath.filter(({ operation }) => operation.scope === 'payer' || operation.paymentLink);
    if (forPayers.length > 0) route.options(admitStranger, preflight(methodsOf(forPayers)));
    for (const { operation } of forPayers) route[operation.method](openToBrowsers);
    for (const endpoint of atPath) route[endpoint.operation.method](serve(endpoint, dependencies));
    route.all(admitStranger, methodNotAllowed(atPath.map(({ operation }) => operation.method.toUpperCase())));
  }
  app.use(admitStranger);
  app.use('/v1', reference());
  app.use(() => {
    throw new ApiError('route.not_found');
  });
  app.use(errorHandler(log, asApiError));
  return app;
}

/** Express handles HEAD with the route for GET. */
const methodsOf = (endpoints: readonly Pick<Endpoint, 'operation'>[]): readonly string[] =>
  endpoints.flatMap(({ operation: { method } }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
