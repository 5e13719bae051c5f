import { parseReplies } from '@pf/contracts';
import type { KeyHolder } from '@pf/database';
import { eventLogOver } from '@pf/event-log';
import { replyChannel } from '@pf/redis';
import type { Screening } from '@pf/screening';
import { asApiError } from '../../../../services/gateway/src/api-error.ts';
import { ClientSecrets } from '../../../../services/gateway/src/client-secrets.ts';
import { Commands } from '../../../../services/gateway/src/commands.ts';
import { assignDeposit, unassignDeposit } from '../../../../services/gateway/src/deposits/deposits.ts';
import type { Call, Endpoint } from '../../../../services/gateway/src/endpoint.ts';
import { buildIntent } from '../../../../services/gateway/src/intents/build.ts';
import { createIntent } from '../../../../services/gateway/src/intents/create.ts';
import { fetchIntent } from '../../../../services/gateway/src/intents/fetch.ts';
import { Looks } from '../../../../services/gateway/src/intents/looks.ts';
import { cancelIntent, detectIntent } from '../../../../services/gateway/src/intents/plain-command.ts';
import { refundIntent } from '../../../../services/gateway/src/intents/refund.ts';
import { submitIntent } from '../../../../services/gateway/src/intents/submit.ts';
import { updateIntent } from '../../../../services/gateway/src/intents/update.ts';
import { LinkTurns } from '../../../../services/gateway/src/limits/link-turns.ts';
import { Waits } from '../../../../services/gateway/src/limits/waits.ts';
import { Outcomes } from '../../../../services/gateway/src/outcomes.ts';
import { SponsorCalls } from '../../../../services/gateway/src/sponsors/sponsor-calls.ts';
import type { Running } from './service.ts';
import type { WorldDependencies } from './world-dependencies.ts';

export type EndpointName =
  'create' | 'fetch' | 'update' | 'cancel' | 'detect' | 'build' | 'submit' | 'refund' | 'assign' | 'unassign';

/** A response as a client gets it. */
export interface Response {
  readonly status: number;
  readonly body: unknown;
}

/** Every wallet is clean: screening is not what is simulated. */
const screening: Screening = { screen: async () => ({ kind: 'clean' }), close: async () => undefined };
/** No account has a sponsor. */
const unforeseenSend = () => Promise.reject(new Error('no sponsor is set, so none is asked'));
/** How long a client waits for a response. */
const CLIENT_TIMEOUT_MS = 30_000;

/** The endpoints of the gateways, by process. */
export class Gateways {
  readonly #world: WorldDependencies;
  readonly #endpoints = new Map<string, Readonly<Record<EndpointName, Endpoint>>>();
  readonly #holder: KeyHolder;

  constructor(world: WorldDependencies, holder: KeyHolder) {
    this.#world = world;
    this.#holder = holder;
  }

  /** What services/gateway/src/main.ts does, without HTTP. */
  async start({ process }: Running): Promise<void> {
    const { kernel, redis, transport, log, plan } = this.#world;
    const store = this.#world.store;
    const outcomes = new Outcomes(store.intents, log);
    const name = replyChannel(`${process.name}-${process.incarnation}`);
    redis.subscribe(name, {
      process,
      receive: (text) => {
        for (const reply of parseReplies(text)) outcomes.settle(reply);
      },
    });
    const replies = {
      name,
      get listening() {
        return redis.isUp;
      },
    };
    const publisher = await eventLogOver(transport, log).publisher();
    const { adapter } = this.#world.network.connect(log, async () => null);
    // Quotas are not what is simulated: the clients are few, and try again and again.
    const limiter = {
      admitChange: async () => undefined,
      countSize: async () => undefined,
      admitCreate: async () => undefined,
      admitBuild: async () => undefined,
      admitRepeatedBuild: async () => undefined,
      admitSubmit: async () => undefined,
      admitLook: async () => undefined,
    };
    const dependencies = {
      adapters: new Map([[adapter.network.chain, adapter]]),
      amounts: store.amounts,
      payByAmount: true,
      clientSecrets: new ClientSecrets(Buffer.alloc(32)),
      commands: new Commands(publisher, replies, outcomes),
      intents: store.intents,
      limiter,
      looks: new Looks({ limiter, waits: new Waits() }),
      signedTransactions: store.signedTransactions,
      now: () => Date.now(),
      partitions: plan.partitions,
      screening,
      findSponsor: async () => null,
      hasSponsor: async () => false,
      sponsorCalls: new SponsorCalls({ sender: { send: unforeseenSend }, log }),
      turns: new LinkTurns(),
      log,
    };
    this.#endpoints.set(process.name, {
      create: createIntent(dependencies),
      fetch: fetchIntent(dependencies),
      update: updateIntent(dependencies),
      cancel: cancelIntent(dependencies),
      detect: detectIntent(dependencies),
      build: buildIntent(dependencies),
      submit: submitIntent(dependencies),
      refund: refundIntent(dependencies),
      assign: assignDeposit(dependencies),
      unassign: unassignDeposit(dependencies),
    });
    kernel.serve(process);
  }

  /** A request of the current process. @throws Error if no response came: it may have taken effect */
  request(gateway: string, endpoint: EndpointName, id: string | null, body: object): Promise<Response> {
    return this.#world.kernel.call(
      gateway,
      () => this.#handle(gateway, endpoint, id, body),
      () => new Error('The gateway does not respond.'),
      { what: () => `${endpoint} ${id ?? ''} ${JSON.stringify(body)}`, timeoutMs: CLIENT_TIMEOUT_MS },
    );
  }

  async #handle(gateway: string, endpoint: EndpointName, id: string | null, body: object): Promise<Response> {
    // What the endpoints read of a request. The body is there as the body reader leaves it.
    const call = {
      holder: this.#holder,
      request: {
        headers: { 'content-type': 'application/json' },
        headersDistinct: {},
        params: { id },
        body: Buffer.from(JSON.stringify(body)),
      },
      response: {},
    } as unknown as Call;
    try {
      const response = await this.#endpoints.get(gateway)?.[endpoint].handle(call);
      if (!response) throw new Error(`${gateway} has no ${endpoint}`);
      return { status: response.status, body: response.body };
    } catch (error) {
      const { status, body: text, code } = asApiErrorWithBody(error);
      if (status === 500) {
        this.#world.log.error({ err: error, endpoint }, 'an endpoint failed');
        this.#world.unforeseen ??= `${endpoint} failed: ${error instanceof Error ? error.stack : String(error)}`;
      }
      this.#world.kernel.trace(`responds ${status} ${code}`);
      return { status, body: JSON.parse(text) as unknown };
    }
  }
}

function asApiErrorWithBody(error: unknown): { status: number; body: string; code: string } {
  const apiError = asApiError(error);
  return { status: apiError.status, body: apiError.body(), code: apiError.code };
}
