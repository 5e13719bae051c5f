import type { WebSocket } from 'ws';
import { z } from 'zod';
import { encode } from '../json.ts';
import { answerText } from '../rpc/dispatcher.ts';
import { explain, invalidParams, methodNotFound } from '../rpc/error.ts';
import type { Node } from '../rpc/method.ts';
import { accountBank, address, bank, optional, signature } from '../rpc/schemas.ts';
import {
  accountSubscription,
  logsSubscription,
  rootSubscription,
  signatureSubscription,
  slotSubscription,
  type Subscription,
} from './subscription.ts';

type Subscribe = (node: Node, params: unknown) => Subscription;

function subscribe<Schema extends z.ZodType>(
  schema: Schema,
  make: (node: Node, params: z.output<Schema>) => Subscription,
): Subscribe {
  return (node, params) => {
    const parsed = schema.safeParse(params);
    if (!parsed.success) throw invalidParams(`Invalid params: ${explain(parsed.error)}`);
    return make(node, parsed.data);
  };
}

const KINDS: Readonly<Record<string, Subscribe>> = {
  signature: subscribe(z.tuple([signature, optional(bank)]), (node, [of, config]) =>
    signatureSubscription(node, of, config?.commitment ?? 'finalized'),
  ),
  account: subscribe(z.tuple([address, optional(accountBank)]), (node, [of, config]) =>
    accountSubscription(node, of, config?.commitment ?? 'finalized', config?.encoding),
  ),
  logs: subscribe(
    z.tuple([z.union([z.enum(['all', 'allWithVotes']), z.object({ mentions: z.tuple([address]) })]), optional(bank)]),
    (node, [of, config]) =>
      logsSubscription(node, typeof of === 'string' ? null : of.mentions[0], config?.commitment ?? 'finalized'),
  ),
  slot: subscribe(z.tuple([]), slotSubscription),
  root: subscribe(z.tuple([]), rootSubscription),
};

/** Ids are unique per server, not per connection, as on a node. */
let lastId = 0;

/** A client of the subscriptions. */
export class Connection {
  readonly #node: Node;
  readonly #socket: WebSocket;
  readonly #subscriptions = new Map<number, Subscription>();
  /** Subscriptions whose number is not sent yet: a notification must not come before it. */
  #unannounced: (readonly [number, Subscription])[] = [];

  constructor(node: Node, socket: WebSocket) {
    this.#node = node;
    this.#socket = socket;
  }

  get isIdle(): boolean {
    return this.#subscriptions.size === 0;
  }

  /** Responds to a message: a request or a batch. */
  async receive(text: string): Promise<void> {
    const answer = await answerText(text, ({ method, params }) => this.#call(method, params ?? []));
    if (answer !== null) this.#socket.send(answer);
    for (const [id, subscription] of this.#unannounced) this.#subscriptions.set(id, subscription);
    this.#unannounced = [];
  }

  /** Sends the notifications that are due. */
  notify(): void {
    for (const [id, subscription] of this.#subscriptions) {
      for (const result of subscription.due())
        this.#socket.send(
          encode({ jsonrpc: '2.0', method: subscription.notification, params: { result, subscription: id } }),
        );
      if (subscription.ended === true) this.#subscriptions.delete(id);
    }
  }

  #call(method: string, params: unknown[]): unknown {
    this.#node.chain.catchUp();
    const [, kind = '', does] = /^([a-z]+)(Subscribe|Unsubscribe)$/.exec(method) ?? [];
    const make = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (make === undefined) throw methodNotFound();
    if (does === 'Subscribe') {
      lastId += 1;
      this.#unannounced.push([lastId, make(this.#node, params)]);
      return lastId;
    }
    const [id] = params;
    if (typeof id !== 'number' || !this.#subscriptions.delete(id)) throw invalidParams('Invalid subscription id.');
    return true;
  }
}
