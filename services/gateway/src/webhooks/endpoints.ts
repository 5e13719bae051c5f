import {
  API_VERSIONS,
  createEndpointRequest,
  enableEndpointRequest,
  ENDPOINTS_MAX,
  OPERATIONS,
  rotateSecretRequest,
  SECRETS_MAX,
  updateEndpointRequest,
  urlProblem,
} from '@pf/contracts';
import {
  addWebhookSecret,
  answerOnce,
  createManagedEndpoint,
  type Database,
  enableWebhookEndpoint,
  inheritedSecrets,
  type Keyring,
  type ManagedEndpoint,
  managedEndpoint,
  managedEndpoints,
  removeManagedEndpoint,
  TooManySecretsError,
  updateManagedEndpoint,
} from '@pf/database';
import type { Request } from 'express';
import { ApiError, validationFailed } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import { readBody } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import { admitUnlessAnswered, readKeyedBody, REPLAYED, requestKey } from '../idempotency.ts';
import { endpointIdOf } from './ids.ts';
import { shownEndpoint } from './shown.ts';
import { wake, type Wakes } from './wake.ts';

export interface EndpointDependencies {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly now: () => number;
  readonly wakes: Wakes;
  /** Whether live events may go to http:// URLs. */
  readonly webhookAllowHttp: boolean;
}

/** @throws ApiError `webhook_endpoint.not_found` */
export async function requireEndpoint(database: Database, holder: Holder, request: Request): Promise<ManagedEndpoint> {
  const endpoint = await managedEndpoint(database, holder, endpointIdOf(request));
  if (!endpoint) throw new ApiError('webhook_endpoint.not_found');
  return endpoint;
}

interface Creating extends EndpointDependencies {
  readonly limiter: Pick<Limiter, 'admitEndpoint'>;
}

/** POST /webhook-endpoints. */
export const createEndpoint = ({ database, keyring, limiter, now, webhookAllowHttp }: Creating): Endpoint => ({
  operation: OPERATIONS.createEndpoint,
  async handle({ holder, request, response }) {
    const {
      name = null,
      eventTypes = null,
      apiVersion = API_VERSIONS[0],
      idempotencyKey,
      ...body
    } = await readKeyedBody(request, response, createEndpointRequest);
    const url = body.url.trim();
    const problem = urlProblem(url, { httpAllowed: !holder.livemode || webhookAllowHttp });
    if (problem !== null) throw validationFailed([{ param: 'url', message: `url ${problem}` }]);
    const at = new Date(now());
    const key = requestKey(holder, 'create-endpoint', idempotencyKey);
    await admitUnlessAnswered(database, key, at, () => limiter.admitEndpoint(holder));
    const { answer, replayed } = await answerOnce(database, keyring, key, at, async (client) => {
      const settings = { url, name, eventTypes, apiVersion, at };
      const created = await createManagedEndpoint(client, keyring, holder, settings);
      if (created.kind === 'exists')
        throw new ApiError('webhook_endpoint.exists', { param: 'url', details: { endpoint_id: created.endpointId } });
      if (created.kind === 'too_many')
        throw new ApiError('webhook_endpoint.limit_reached', {
          message: `The account has ${ENDPOINTS_MAX} webhook endpoints in this mode, which is the limit. Remove one.`,
          details: { limit: 'endpoints', max: ENDPOINTS_MAX },
        });
      return { endpoint: shownEndpoint(created.endpoint), secret: created.secret };
    });
    return replayed ? { status: 200, body: answer, headers: REPLAYED } : { status: 201, body: answer };
  },
});

/** GET /webhook-endpoints. */
export const listEndpoints = ({ database }: EndpointDependencies): Endpoint => ({
  operation: OPERATIONS.listEndpoints,
  async handle({ holder }) {
    return { status: 200, body: { endpoints: (await managedEndpoints(database, holder)).map(shownEndpoint) } };
  },
});

/** GET /webhook-endpoints/{id}. */
export const getEndpoint = ({ database }: EndpointDependencies): Endpoint => ({
  operation: OPERATIONS.getEndpoint,
  async handle({ holder, request }) {
    return { status: 200, body: { endpoint: shownEndpoint(await requireEndpoint(database, holder, request)) } };
  },
});

/** PATCH /webhook-endpoints/{id}. */
export const updateEndpoint = ({ database, now, wakes }: EndpointDependencies): Endpoint => ({
  operation: OPERATIONS.updateEndpoint,
  async handle({ holder, request, response }) {
    const id = endpointIdOf(request);
    const change = await readBody(request, response, updateEndpointRequest);
    const endpoint = await updateManagedEndpoint(database, holder, id, change, new Date(now()));
    if (!endpoint) throw new ApiError('webhook_endpoint.not_found');
    if (change.paused === false) wake(wakes, id);
    return { status: 200, body: { endpoint: shownEndpoint(endpoint) } };
  },
});

/** DELETE /webhook-endpoints/{id}. */
export const removeEndpoint = ({ database, now }: EndpointDependencies): Endpoint => ({
  operation: OPERATIONS.removeEndpoint,
  async handle({ holder, request }) {
    const { id } = await requireEndpoint(database, holder, request);
    await removeManagedEndpoint(database, id, new Date(now()));
    return { status: 200, body: { id, removed: true } };
  },
});

interface Enabling extends EndpointDependencies {
  readonly limiter: Pick<Limiter, 'admitReplay'>;
}

/** POST /webhook-endpoints/{id}/enable. */
export const enableEndpoint = ({ database, limiter, now, wakes }: Enabling): Endpoint => ({
  operation: OPERATIONS.enableEndpoint,
  async handle({ holder, request, response }) {
    const { replay = false } = await readBody(request, response, enableEndpointRequest);
    if (replay) await limiter.admitReplay(holder);
    const { id, url } = await requireEndpoint(database, holder, request);
    const { accountId, livemode } = holder;
    const at = new Date(now());
    const enabled = await enableWebhookEndpoint(database, { accountId, livemode, url, replay, at });
    wake(wakes, id);
    const endpoint = await requireEndpoint(database, holder, request);
    return { status: 200, body: { endpoint: shownEndpoint(endpoint), replayed: enabled?.replayed ?? 0 } };
  },
});

/** POST /webhook-endpoints/{id}/rotate-secret. */
export const rotateEndpointSecret = ({ database, keyring, now }: EndpointDependencies): Endpoint => ({
  operation: OPERATIONS.rotateEndpointSecret,
  async handle({ holder, request, response }) {
    const body = await readKeyedBody(request, response, rotateSecretRequest);
    const endpoint = await requireEndpoint(database, holder, request);
    const { accountId, livemode } = holder;
    const owner = { accountId, livemode, endpointId: endpoint.id };
    const at = new Date(now());
    const key = requestKey(holder, `rotate-secret ${endpoint.id}`, body.idempotencyKey);
    const inherited = await inheritedSecrets(database, keyring, owner);
    try {
      const { answer, replayed } = await answerOnce(database, keyring, key, at, async (client) => {
        const validFrom = body.validFrom === undefined ? at : new Date(body.validFrom);
        if (validFrom.getTime() < at.getTime() - 1_000)
          throw validationFailed([{ param: 'validFrom', message: 'validFrom must not be in the past' }]);
        const secret = await addWebhookSecret(client, keyring, owner, validFrom, inherited);
        return { endpoint: shownEndpoint(endpoint), secret, validFrom: validFrom.toISOString() };
      });
      return { status: 200, body: answer, headers: replayed ? REPLAYED : {} };
    } catch (error) {
      if (!(error instanceof TooManySecretsError)) throw error;
      throw new ApiError('webhook_endpoint.limit_reached', {
        message:
          `The webhook endpoint has ${SECRETS_MAX} secrets, which is the limit. ` +
          'An old secret stops signing 24 hours after its successor took over.',
        details: { limit: 'secrets', max: SECRETS_MAX },
      });
    }
  },
});
