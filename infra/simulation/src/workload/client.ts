import type { Deposit, PublicIntent } from '@pf/domain';
import type { SimulatedTransaction, SimulatedWallet } from '@pf/simulation/chain';
import type { Random } from '@pf/simulation/kernel';
import type { Kind } from '../plan.ts';
import type { EndpointName, Response } from '../world/gateway.ts';
import type { World } from '../world/world.ts';

/** The shortest life of an intent, so that runs are short. */
const TTL_SECONDS = 60;
const AMOUNTS = ['1', '2.5', '10.01'] as const;
/** How often a client repeats a request with an idempotency key before it gives up. */
const PATIENCE = 8;
/** How often a client looks whether a payment that names no intent is a deposit by now, every second or two. */
const LOOKS = 15;
/** An intent has 20 keys of metadata at most. */
const MOST_UPDATES = 15;

type Step = (this: Story) => Promise<void>;

/** What a client does with one intent. It records what it was told, and nothing else. */
class Story {
  readonly #world: World;
  readonly #random: Random;
  readonly #name: string;
  readonly #merchant: SimulatedWallet;
  readonly #payers: readonly SimulatedWallet[];
  #intent: PublicIntent | null = null;
  /** Signed transactions that were handed to the service. */
  readonly #handed: { readonly transaction: SimulatedTransaction; readonly payer: SimulatedWallet }[] = [];
  #updates = 0;
  #termsMayChange = false;

  constructor(world: World, random: Random, name: string) {
    this.#world = world;
    this.#random = random;
    this.#name = name;
    this.#merchant = random.pick(world.merchants);
    this.#payers = world.payers;
  }

  async tell(): Promise<void> {
    await this.#create();
    if (this.#intent === null) return;
    const steps: readonly (readonly [Kind, number, Step])[] = [
      ['updates', 2, this.#update],
      ['detections', 1, this.#detect],
      ['payments', 4, this.#pay],
      ['competing payers', 3, this.#compete],
      ['resubmissions', 2, this.#submitAgain],
      ['payments by hand', 2, this.#payByHand],
      ['wrong payments', 1, this.#payWrongly],
      ['late payments', 1, this.#payLate],
      ['cancels', 1, this.#cancel],
      ['refunds', 2, this.#refund],
      ['assignments', 5, this.#assign],
      ['larger payments', 3, this.#payMore],
    ];
    const possible = steps.filter(([kind]) => this.#world.plan.kinds.has(kind));
    const weights = possible.flatMap((step) => Array.from({ length: step[1] }, () => step));
    if (weights.length === 0) return;
    for (let count = 1 + this.#random.int(5); count > 0; count--) {
      await this.#pause(this.#random.chance(0.3) ? 10_000 : 500);
      await this.#random.pick(weights)[2].call(this);
    }
  }

  async #create(): Promise<void> {
    const { kinds } = this.#world.plan;
    const key = kinds.has('idempotency keys') && this.#random.chance(0.7) ? `${this.#name}-key` : null;
    const body = {
      chain: this.#world.network.network.chain,
      token: 'USDC',
      amount: this.#random.pick(AMOUNTS),
      requestor: this.#merchant.address,
      ttlSeconds: TTL_SECONDS,
      ...(key !== null && { idempotencyKey: key }),
      ...(kinds.has('larger payments') && this.#random.chance(0.6) && { accept: 'at_least' }),
    };
    const attempt = async (): Promise<void> => {
      const response = await this.#request('create', null, body);
      const intent = intentOf(response);
      if (intent === null) return;
      this.#world.model.created(intent.id, key);
      this.#intent ??= intent;
    };
    if (key === null) return attempt();
    for (let tries = 0; tries < PATIENCE && this.#intent === null; tries++) {
      await Promise.all(this.#random.chance(0.3) ? [attempt(), attempt()] : [attempt()]);
      await this.#pause(1_000);
    }
    // Once more: the answer has to be the same intent.
    if (this.#random.chance(0.3)) await attempt();
  }

  async #update(): Promise<void> {
    const intent = await this.#fetch();
    if (intent === null) return;
    const terms = this.#handed.length === 0 && !this.#world.model.isPaidByHand(intent.id) && this.#random.chance(0.2);
    const update = (): Promise<void> => this.#updateFrom(intent, terms);
    await Promise.all(this.#random.chance(0.3) ? [update(), update()] : [update()]);
  }

  async #updateFrom(intent: PublicIntent, terms: boolean): Promise<void> {
    const marker = `u${++this.#updates}`;
    if (this.#updates > MOST_UPDATES) return;
    if (terms) this.#termsMayChange = true;
    const response = await this.#request('update', intent.id, {
      updatedAt: intent.updatedAt,
      metadata: { [marker]: this.#name },
      ...(terms && { amount: this.#random.pick(AMOUNTS) }),
    });
    if (intentOf(response) !== null) this.#world.model.updated(intent.id, marker, intent.updatedAt);
  }

  async #detect(): Promise<void> {
    const response = await this.#request('detect', this.#id, {});
    if (intentOf(response) !== null) this.#world.model.detected(this.#id);
  }

  async #cancel(): Promise<void> {
    const response = await this.#request('cancel', this.#id, {});
    if (intentOf(response) !== null) this.#world.model.cancelled(this.#id);
  }

  async #pay(): Promise<void> {
    const payer = this.#random.pick(this.#payers);
    const signed = this.#random.chance(0.6) ? await this.#build(this.#id, payer) : await this.#signByHand(payer);
    if (signed === null) return;
    await this.#pause(1_000);
    if (this.#random.chance(0.1)) {
      // The wallet sends it itself and hands over the hash.
      if (await this.#send(payer, signed)) await this.#submit(this.#id, payer, signed, true);
    } else if (this.#world.plan.kinds.has('resubmissions') && this.#random.chance(0.4)) {
      // An impatient client sends it twice, perhaps to two gateways.
      await Promise.all([
        this.#submit(this.#id, payer, signed),
        this.#pause(this.#random.pick([20, 2_000])).then(() => this.#submit(this.#id, payer, signed)),
      ]);
    } else await this.#submit(this.#id, payer, signed);
    // While the payment is fresh: a reorganization may undo it.
    if (this.#world.plan.kinds.has('refunds') && this.#random.chance(0.4)) await this.#refund();
  }

  /** Two payers who do not know of each other. */
  async #compete(): Promise<void> {
    const payers = [this.#random.pick(this.#payers), this.#random.pick(this.#payers)];
    // The amount may change while they sign.
    const { kinds } = this.#world.plan;
    if (kinds.has('updates') && !this.#world.model.isPaidByHand(this.#id) && this.#random.chance(0.4)) {
      const intent = await this.#fetch();
      if (intent) void this.#pause(30).then(() => this.#updateFrom(intent, true));
    }
    await Promise.all(
      payers.map(async (payer) => {
        const signed = await this.#signByHand(payer);
        if (signed === null) return;
        await this.#pause(this.#random.chance(0.5) ? 30 : 15_000);
        await this.#submit(this.#id, payer, signed);
      }),
    );
  }

  async #submitAgain(): Promise<void> {
    if (this.#handed.length === 0) return;
    const { payer, transaction } = this.#random.pick(this.#handed);
    await this.#submit(this.#id, payer, transaction);
  }

  async #payByHand(): Promise<void> {
    if (this.#termsMayChange) return;
    const payer = this.#random.pick(this.#payers);
    const signed = await this.#signByHand(payer);
    if (signed) await this.#send(payer, signed);
  }

  async #payWrongly(): Promise<void> {
    const intent = await this.#fetch();
    // Whether it pays an intent of at least its amount would depend on which amount that has when it lands.
    if (intent === null || (intent.accept !== undefined && this.#termsMayChange)) return;
    const payer = this.#random.pick(this.#payers);
    await this.#send(payer, payer.pay({ ...termsOf(intent), amount: BigInt(intent.amountBaseUnits) + 1n }));
  }

  /** More than is asked for, whether the intent accepts it or not. */
  async #payMore(): Promise<void> {
    const intent = this.#termsMayChange ? null : await this.#fetch();
    if (intent === null) return;
    const payer = this.#random.pick(this.#payers);
    const more = this.#random.pick([1n, 500_000n]);
    await this.#send(payer, payer.pay({ ...termsOf(intent), amount: BigInt(intent.amountBaseUnits) + more }));
  }

  async #payLate(): Promise<void> {
    await this.#world.kernel.sleep(TTL_SECONDS * 1_000 + this.#random.between(0, 5_000));
    await this.#payByHand();
  }

  async #refund(): Promise<void> {
    for (let looks = 0; looks < 10; looks++) {
      const original = await this.#fetch();
      if (original?.state === 'confirmed' || original?.state === 'finalized') break;
      await this.#pause(2_000);
    }
    const response = await this.#request('refund', this.#id, {});
    const refund = intentOf(response);
    if (refund === null) return;
    this.#world.model.refunded(this.#id, refund.id);
    await this.#pause(this.#random.chance(0.5) ? 500 : 8_000);
    const signed = await this.#build(refund.id, this.#merchant);
    if (signed === null) return;
    await this.#pause(this.#random.chance(0.5) ? 500 : 8_000);
    await this.#submit(refund.id, this.#merchant, signed);
  }

  /** Pays without the reference; its merchant says what for, and may think better of it. */
  async #assign(): Promise<void> {
    const intent = await this.#fetch();
    if (intent === null) return;
    if (this.#random.chance(0.8)) await this.#payPlainly(intent);
    for (let looks = 0; looks < LOOKS && this.#open().length === 0; looks++) await this.#pause(1_500);
    const open = this.#open();
    if (open.length === 0) return;
    const { id } = this.#random.pick(open);
    const [other] = this.#random.chance(0.4) ? this.#others(intent) : [];
    await Promise.all([this.#decide(id, intent.id), ...(other === undefined ? [] : [this.#decide(id, other)])]);
    for (let changes = this.#random.int(3); changes > 0; changes--) {
      await this.#pause(this.#random.pick([100, 3_000, 40_000]));
      await this.#request('unassign', id, {});
      if (this.#random.chance(0.3)) continue;
      await this.#decide(id, this.#random.pick([intent.id, ...this.#others(intent)]));
    }
  }

  async #payPlainly(intent: PublicIntent): Promise<void> {
    const payer = this.#random.pick(this.#payers);
    const { amount, ...terms } = termsOf(intent);
    const signed = payer.payPlainly({ ...terms, amount: this.#random.chance(0.1) ? amount + 1n : amount });
    this.#world.model.sentPlainly(signed.hash);
    try {
      payer.send(signed);
      this.#world.kernel.trace(`sends ${signed.hash} without a reference`);
    } catch {
      // The node refuses it.
    }
  }

  async #decide(depositId: string, intentId: string): Promise<void> {
    const response = await this.#request('assign', depositId, { intentId });
    if (response?.status === 200) this.#world.model.assigned(depositId, intentId);
  }

  /** What the list of deposits shows to the merchant as open. */
  #open(): readonly Deposit[] {
    return [...this.#world.database.tables.deposits.values()]
      .map(({ deposit }) => deposit)
      .filter(({ state, arrival }) => state === 'open' && arrival.to === this.#merchant.address);
  }

  /** Other intents that ask for the same, the newest first. */
  #others({ id, amountBaseUnits, requestor }: PublicIntent): readonly string[] {
    return [...this.#world.database.tables.intents.values()]
      .map(({ intent }) => intent)
      .filter((one) => one.id !== id && one.requestor === requestor && `${one.amountBaseUnits}` === amountBaseUnits)
      .map((one) => one.id)
      .toReversed();
  }

  async #build(id: string, payer: SimulatedWallet): Promise<SimulatedTransaction | null> {
    const response = await this.#request('build', id, { fulfiller: payer.address });
    if (response?.status !== 200) return null;
    const { transaction } = response.body as { transaction: { blob: string } };
    this.#world.model.built(id, transaction.blob);
    return payer.signBuilt(transaction.blob);
  }

  async #signByHand(payer: SimulatedWallet): Promise<SimulatedTransaction | null> {
    const intent = await this.#fetch();
    return intent && payer.pay(termsOf(intent));
  }

  async #submit(id: string, payer: SimulatedWallet, signed: SimulatedTransaction, sent = false): Promise<void> {
    if (!sent && id === this.#id) this.#handed.push({ transaction: signed, payer });
    if (!sent) this.#world.model.handedOver(id, signed.hash);
    const response = await this.#request('submit', id, {
      signedTransaction: sent ? signed.hash : signed.raw,
      fulfiller: payer.address,
    });
    if (response?.status === 200) this.#world.model.submitted(id, signed.hash);
  }

  /** Sends it past the service. */
  async #send(wallet: SimulatedWallet, signed: SimulatedTransaction): Promise<boolean> {
    this.#world.model.sentByHand(this.#id, signed.hash);
    try {
      wallet.send(signed);
      this.#world.kernel.trace(`sends ${signed.hash} by hand`);
      return true;
    } catch {
      // The node refuses it: its nonce is used, say.
      return false;
    }
  }

  async #fetch(): Promise<PublicIntent | null> {
    const response = await this.#request('fetch', this.#id, {});
    const intent = intentOf(response);
    if (intent !== null) this.#intent = intent;
    return intent;
  }

  /** Null: no response. */
  async #request(endpoint: EndpointName, id: string | null, body: object): Promise<Response | null> {
    try {
      return await this.#world.gateways.request(this.#random.pick(this.#world.gatewayNames), endpoint, id, body);
    } catch {
      // No response: the client does not know whether it took effect.
      return null;
    }
  }

  get #id(): string {
    if (this.#intent === null) throw new Error('The story has no intent yet.');
    return this.#intent.id;
  }

  #pause(meanMs: number): Promise<void> {
    return this.#world.kernel.sleep(this.#random.between(0, 2 * meanMs));
  }
}

const termsOf = ({ tokenAddress, requestor, amountBaseUnits, reference }: PublicIntent) =>
  ({ tokenAddress, requestor, amount: BigInt(amountBaseUnits), reference }) as Parameters<SimulatedWallet['pay']>[0];

function intentOf(response: Response | null): PublicIntent | null {
  if (response === null || response.status >= 300) return null;
  return (response.body as { intent: PublicIntent }).intent;
}

/** The work of one client: its intents, some of them at once. */
export async function runClient(world: World, name: string, random: Random): Promise<void> {
  const stories: Promise<void>[] = [];
  for (let index = 0; index < world.plan.intentsEach; index++) {
    stories.push(new Story(world, random, `${name}-${index}`).tell());
    await world.kernel.sleep(random.between(0, world.plan.stormMs / world.plan.intentsEach));
  }
  await Promise.all(stories);
}
