import type { PublicIntent, Reference, TokenAddress } from '@pf/domain';
import type { Payment, SimulatedNode, SimulatedTransaction, SimulatedWallet, Unreadable } from '@pf/simulation/chain';
import type { Random } from '@pf/simulation/kernel';
import type { MoveKind } from '../plan.ts';
import type { EndpointName, Response } from '../world/gateway.ts';
import type { World } from '../world/world.ts';

const TTL_SECONDS = 60;
const AMOUNTS = ['1', '2.5', '10.01'] as const;
/**
 * Specks of one transaction, as many as watchers tell of one; transactions of them; and how far these are apart, so
 * that the specks of each are told before the next ones come. Together they are more than COUNTED_MAX.mismatched.
 */
const SPECKS = 20;
const SCATTERED = 6;
const SCATTER_EVERY_MS = 5_000;
/** How long an account stays given away, and a transaction unreadable. */
const AWHILE_MS = [4_000, 40_000] as const;
/** How long no upstream has a trace of a payment: after a minute watchers report it as unproven. */
const UNPROVEN_MS = [30_000, 100_000] as const;
const UNPROVEN_SHARE = 0.7;
/**
 * The same where its bytes name another intent alone, so that it is reported for that one. Looks are apart by half of
 * the time that it has waited: one of them falls between a minute and this.
 */
const MISTAKEN_MS = [100_000, 140_000] as const;
const MISTAKEN_SHARE = 0.6;
const PATIENCE = 8;
const UNREADABLE: readonly Unreadable[] = ['fails', 'malformed', 'absent', 'hangs'];

/** What a transaction of the chain is made of, beside what an intent asks for. */
type Made = (payer: SimulatedWallet, intents: readonly PublicIntent[]) => readonly Payment[];

/** The payment that an intent asks for, by a call of its token. */
export const paymentOf = (
  { tokenAddress, requestor, amountBaseUnits, reference }: PublicIntent,
  { address }: SimulatedWallet,
): Payment => ({
  token: tokenAddress as TokenAddress,
  from: address,
  to: requestor as Payment['to'],
  amount: BigInt(amountBaseUnits),
  reference: reference as Reference,
});

/** The same money on its way back, and what it is for is not said. */
const back = (payment: Payment): Payment => ({
  ...payment,
  from: payment.to,
  to: payment.from,
  reference: null,
});

/** Payments of several intents, each of which goes back before the next one. */
const goingRound =
  (isLastKept: boolean): Made =>
  (payer, intents) =>
    intents
      .flatMap((intent) => [paymentOf(intent, payer), back(paymentOf(intent, payer))])
      .slice(0, isLastKept ? -1 : undefined);

/** Whoever wants to be taken to have paid, or wants others not to be. It has intents of its own. */
class Adversary {
  readonly #world: World;
  readonly #random: Random;
  readonly #moves: Readonly<Record<MoveKind, () => Promise<void>>> = {
    'payments that go round': () => this.#goRound(),
    'shared amounts': () => this.#share(),
    'accounts given away': () => this.#giveAway(),
    "strangers' payments": () => this.#payForAnother(),
    'unproven payments': () => this.#payUnproven(),
    dust: () => this.#scatter(),
    'unreadable transactions': () => this.#payUnreadably(),
    'inventing upstreams': () => this.#invent(),
  };

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  move(kind: MoveKind): Promise<void> {
    return this.#moves[kind]();
  }

  /** A payment comes in, and goes out again. */
  async #goRound(): Promise<void> {
    const [payer] = this.#world.strangers;
    const intent = await this.#create(this.#merchant());
    if (intent === null) return;
    this.#sendThrough(payer, goingRound(false)(payer, [intent]), [intent]);
    if (this.#random.chance(0.5)) this.#payThrough(payer, intent);
  }

  /** One amount for several intents; or as much as they ask for, which pays them all. */
  async #share(): Promise<void> {
    const [payer] = this.#world.strangers;
    const [merchant, amount] = [this.#merchant(), this.#random.pick(AMOUNTS)];
    const created = await Promise.all([0, 1, 2].map(() => this.#create(merchant, { amount })));
    const intents = created.filter((intent) => intent !== null);
    const isHonest = this.#random.chance(0.3);
    const payments = isHonest ? intents.map((intent) => paymentOf(intent, payer)) : goingRound(true)(payer, intents);
    this.#sendThrough(payer, payments, intents);
  }

  /** Who is to be paid gives the account away while the payment is under way. */
  async #giveAway(): Promise<void> {
    const { payee, strangers, network, kernel } = this.#world;
    const [payer, other] = strangers;
    const intent = await this.#create(payee);
    if (intent === null) return;
    const signed = this.#random.chance(0.5) ? await this.#build(intent.id, payer) : payer.pay(termsOf(intent));
    if (signed === null) return;
    const give = (): void => network.chain.giveAway(payee.address, other.address);
    const isEarly = this.#random.chance(0.5);
    if (isEarly) give();
    await this.#submit(intent.id, payer, signed);
    give();
    kernel.schedule(this.#random.between(...AWHILE_MS), () => network.chain.takeBack(payee.address));
  }

  /** A `send` intent is paid by another wallet than the one that it names, and perhaps by that one too. */
  async #payForAnother(): Promise<void> {
    const [payer, other] = this.#world.strangers;
    const intent = await this.#create(this.#merchant(), { direction: 'send', fulfiller: payer.address });
    if (intent === null) return;
    this.#send(other, other.pay(termsOf(intent)), [intent]);
    if (this.#random.chance(0.5)) return;
    await this.#pause(this.#random.pick([500, 10_000]));
    const signed = await this.#build(intent.id, payer);
    if (signed !== null) await this.#submit(intent.id, payer, signed);
  }

  /** A payment through a contract, of which only a trace shows what it is for; and bytes that say something else. */
  async #payUnproven(): Promise<void> {
    const [payer] = this.#world.strangers;
    const merchant = this.#merchant();
    const [intent, other] = [await this.#create(merchant), await this.#create(merchant)];
    if (intent === null || other === null) return;
    const isMistaken = this.#random.chance(MISTAKEN_SHARE);
    const isNamed = isMistaken || this.#random.chance(UNPROVEN_SHARE);
    const transaction = this.#payThrough(payer, intent, isNamed ? other : null, isMistaken);
    if (transaction === null) return;
    if (isMistaken || this.#random.chance(UNPROVEN_SHARE))
      this.#makeUnreadable(transaction, this.#world.network.nodes, 'traceless', isMistaken ? MISTAKEN_MS : UNPROVEN_MS);
    if (this.#random.chance(0.3)) return;
    for (let looks = 0; looks < PATIENCE; looks++) {
      if (this.#world.reportUnproven(intent.id, transaction.hash)) return;
      await this.#pause(1_000);
    }
  }

  /** Specks with the intent's reference, and then something that the account should be told. */
  async #scatter(): Promise<void> {
    const [payer, other] = this.#world.strangers;
    const intent = await this.#create(this.#merchant());
    if (intent === null) return;
    const specks = Array.from({ length: SPECKS }, () => ({ ...paymentOf(intent, other), amount: 1n }));
    for (let times = 0; times < SCATTERED; times++) {
      this.#sendThrough(other, specks, [intent]);
      await this.#world.kernel.sleep(SCATTER_EVERY_MS);
    }
    await this.#pause(6_000);
    const odd = payer.pay({ ...termsOf(intent), amount: BigInt(intent.amountBaseUnits) - 1n });
    if (this.#send(payer, odd, [intent])) this.#world.model.paidOddly(intent.id, odd.hash);
    if (this.#random.chance(0.5)) this.#send(payer, payer.pay(termsOf(intent)), [intent]);
  }

  /** Some upstreams cannot read a payment for a while, or none can. */
  async #payUnreadably(): Promise<void> {
    const { network, strangers } = this.#world;
    const [payer] = strangers;
    const intent = await this.#create(this.#merchant());
    if (intent === null) return;
    const nodes = this.#random.chance(0.3) ? network.nodes : [this.#random.pick(network.nodes)];
    const how = this.#random.pick(UNREADABLE);
    const transaction = this.#random.chance(0.5)
      ? payer.pay(termsOf(intent))
      : payer.payThrough([paymentOf(intent, payer)]);
    this.#makeUnreadable(transaction, nodes, how, AWHILE_MS);
    this.#send(payer, transaction, [intent]);
  }

  #makeUnreadable(
    { hash }: SimulatedTransaction,
    nodes: readonly SimulatedNode[],
    how: Unreadable,
    lasts: readonly [number, number],
  ): void {
    for (const node of nodes) node.setUnreadable(hash, how);
    this.#world.kernel.schedule(this.#random.between(...lasts), () => {
      for (const node of nodes) node.setUnreadable(hash, null);
    });
  }

  /** One upstream shows a payment that does not exist. */
  async #invent(): Promise<void> {
    const { network, ghost } = this.#world;
    const intent = await this.#create(this.#merchant());
    if (intent === null) return;
    const transaction = this.#random.chance(0.5)
      ? ghost.pay(termsOf(intent))
      : ghost.payThrough([paymentOf(intent, ghost)]);
    this.#world.model.invented(transaction.hash, network.chain.height(this.#world.kernel.now()) + 1);
    network.nodes[0]?.invent(transaction);
    this.#world.kernel.trace(`invents ${transaction.hash} for ${intent.id}`);
  }

  /**
   * A right payment through a contract.
   * @param named the calldata names it, perhaps alone, and no call does
   * @param isAlone the calldata names no other
   */
  #payThrough(
    payer: SimulatedWallet,
    intent: PublicIntent,
    named: PublicIntent | null = null,
    isAlone = false,
  ): SimulatedTransaction | null {
    const payment = paymentOf(intent, payer);
    const noise = named === null ? '0x' : payer.pay(termsOf({ ...named, amountBaseUnits: intent.amountBaseUnits }), 0);
    const isHidden = isAlone || (named !== null && this.#random.chance(0.5));
    const calldata = typeof noise === 'string' ? noise : noise.decoded.data;
    return this.#sendThrough(payer, [payment], [intent], calldata, isHidden);
  }

  #sendThrough(
    wallet: SimulatedWallet,
    payments: readonly Payment[],
    intents: readonly PublicIntent[],
    noise?: string,
    isHidden?: boolean,
  ): SimulatedTransaction | null {
    const transaction = wallet.payThrough(payments, noise, isHidden);
    return this.#send(wallet, transaction, intents) ? transaction : null;
  }

  #send(wallet: SimulatedWallet, transaction: SimulatedTransaction, intents: readonly PublicIntent[]): boolean {
    for (const { id } of intents) this.#world.model.sentByHand(id, transaction.hash);
    try {
      wallet.send(transaction);
      this.#world.kernel.trace(`sends ${transaction.hash} for ${intents.map(({ id }) => id).join(', ')}`);
      return true;
    } catch {
      // The node refuses it.
      return false;
    }
  }

  async #create(merchant: SimulatedWallet, more: object = {}): Promise<PublicIntent | null> {
    const body = {
      chain: this.#world.network.network.chain,
      token: 'USDC',
      amount: this.#random.pick(AMOUNTS),
      requestor: merchant.address,
      ttlSeconds: TTL_SECONDS,
      ...more,
    };
    for (let tries = 0; tries < PATIENCE; tries++) {
      const response = await this.#request('create', null, body);
      if (response !== null && response.status < 300) {
        const { intent } = response.body as { intent: PublicIntent };
        this.#world.model.created(intent.id, null);
        return intent;
      }
      await this.#pause(1_000);
    }
    return null;
  }

  async #build(id: string, payer: SimulatedWallet): Promise<SimulatedTransaction | null> {
    const response = await this.#request('build', id, { fulfiller: payer.address });
    if (response?.status !== 200) return null;
    const { transaction } = response.body as { transaction: { blob: string } };
    this.#world.model.built(id, transaction.blob);
    return payer.signBuilt(transaction.blob);
  }

  async #submit(id: string, payer: SimulatedWallet, signed: SimulatedTransaction): Promise<void> {
    this.#world.model.handedOver(id, signed.hash);
    const response = await this.#request('submit', id, { signedTransaction: signed.raw, fulfiller: payer.address });
    if (response?.status === 200) this.#world.model.submitted(id, signed.hash);
  }

  async #request(endpoint: EndpointName, id: string | null, body: object): Promise<Response | null> {
    try {
      return await this.#world.gateways.request(this.#random.pick(this.#world.gatewayNames), endpoint, id, body);
    } catch {
      // No response.
      return null;
    }
  }

  #merchant(): SimulatedWallet {
    return this.#random.pick(this.#world.merchants);
  }

  #pause(meanMs: number): Promise<void> {
    return this.#world.kernel.sleep(this.#random.between(0, 2 * meanMs));
  }
}

/** What a wallet signs to pay an intent by hand. */
export const termsOf = ({ tokenAddress, requestor, amountBaseUnits, reference }: PublicIntent) =>
  ({ tokenAddress, requestor, amount: BigInt(amountBaseUnits), reference }) as Parameters<SimulatedWallet['pay']>[0];

/** Each move of the plan, once or twice, strewn over the storm. */
export async function runAdversary(world: World, kinds: readonly MoveKind[], random: Random): Promise<void> {
  const adversary = new Adversary(world, random);
  const moves = random.chance(0.3) ? [...kinds, ...kinds] : kinds;
  await Promise.all(
    moves.map(async (kind) => {
      await world.kernel.sleep(random.between(0, world.plan.stormMs));
      await adversary.move(kind);
    }),
  );
}
