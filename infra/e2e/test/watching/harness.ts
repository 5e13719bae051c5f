import { expect } from '@jest/globals';
import { decodeIntent } from '@pf/contracts';
import type { PaymentIntent, PublicIntent, PublicPayment, Reference } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  readBackingStack,
  readWholeLog,
  type StackChain,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { type Anvil, type LocalSolana, startAnvil, startSolana, startTempo, type Tempo } from '@pf/testing/chains';
import { walletOn } from '@pf/testing/wallets';
import { BlockFlow } from '../block-flow.ts';
import type { Name } from '../chain-names.ts';

const AMOUNT = '3';
/** AMOUNT in base units. */
export const UNITS = 3_000_000n;
const BLOCK_MS = 300;
const WITHIN_MS = 60_000;

/** An event of the log, also of a type that the API does not show. */
export interface LoggedEvent {
  readonly type: string;
  readonly data: unknown;
}

/**
 * The running services with a chain of each family, and the actions of clients, payers and operators. Blocks are
 * produced until a test holds the flow.
 */
export class WatchingHarness {
  readonly cluster: Cluster;
  readonly api: ApiClient;
  readonly base: Anvil;
  readonly solana: LocalSolana;
  readonly tempo: Tempo;
  readonly flows: Readonly<Record<Name, BlockFlow>>;

  private constructor(
    cluster: Cluster,
    api: ApiClient,
    { base, solana, tempo }: { readonly base: Anvil; readonly solana: LocalSolana; readonly tempo: Tempo },
  ) {
    this.cluster = cluster;
    this.api = api;
    this.base = base;
    this.solana = solana;
    this.tempo = tempo;
    const flow = (name: Name): BlockFlow => new BlockFlow(async () => void (await this.pass(name)), BLOCK_MS);
    this.flows = { base: flow('base'), solana: flow('solana'), tempo: flow('tempo') };
  }

  static async start(): Promise<WatchingHarness> {
    const [base, solana, tempo] = await Promise.all([startAnvil(), startSolana(), startTempo()]);
    const cluster = await startCluster(readBackingStack(), [base, solana, tempo]);
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
    return new WatchingHarness(cluster, apiClient(`${gateway.url}/v1`, cluster.apiKeys.test), { base, solana, tempo });
  }

  async close(): Promise<void> {
    await Promise.allSettled(Object.values(this.flows).map((flow) => flow.hold()));
    await this.cluster.close();
    await Promise.all([this.base.stop(), this.solana.stop(), this.tempo.stop()]);
  }

  chain(name: Name): StackChain {
    return this[name];
  }

  usdc(name: Name): string {
    return this.chain(name).tokens['USDC'] ?? '';
  }

  /** Wallet 0 is the requestor; each scenario has its own payers, so that none waits for another's nonce. */
  wallet(name: Name, place: number): StackWallet {
    return this.chain(name).wallets[place] as StackWallet;
  }

  requestor(name: Name): string {
    return this.wallet(name, 0).address;
  }

  /** Produces a block or slot. */
  async pass(name: Name): Promise<void> {
    await (name === 'solana' ? this.solana.advance() : this[name].mine());
  }

  /** Produces blocks until the condition is true; for a chain whose flow is held. */
  async passUntil(name: Name, what: string, isSo: () => Promise<boolean>): Promise<void> {
    await until(what, async () => (await this.pass(name), isSo()), WITHIN_MS);
  }

  async create(name: Name, more: object = {}): Promise<PublicIntent> {
    const { status, body } = await this.api.create({
      chain: this.chain(name).caip2,
      token: 'USDC',
      amount: AMOUNT,
      requestor: this.requestor(name),
      ...more,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.intent;
  }

  /** Pays without `submit`; resolves with the hash. */
  pay(name: Name, payer: StackWallet, { reference }: PublicIntent, units = UNITS): Promise<string> {
    return walletOn(this.chain(name), payer).pay(this.usdc(name), this.requestor(name), units, reference as Reference);
  }

  async build(id: string, payer: StackWallet): Promise<string> {
    const { status, body } = await this.api.build(id, payer.address);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.transaction.blob;
  }

  /** Builds, signs and submits; resolves with the blob and the hash. */
  async submit(
    name: Name,
    id: string,
    payer: StackWallet,
    sign = (blob: string): Promise<string> => walletOn(this.chain(name), payer).sign(blob),
  ): Promise<{ readonly blob: string; readonly hash: string }> {
    const blob = await this.build(id, payer);
    const { status, body } = await this.api.submit(id, await sign(blob), payer.address);
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.intent.state).toBe('pending');
    return { blob, hash: body.txSignature };
  }

  async shown(id: string): Promise<PublicIntent> {
    return (await this.api.get(id)).body.intent;
  }

  /** Waits for a state without producing blocks. */
  reach(id: string, state: string): Promise<PublicIntent> {
    return until(
      `${id} to be ${state}`,
      async () => {
        const intent = await this.shown(id);
        return intent.state === state && intent;
      },
      WITHIN_MS,
    );
  }

  /** Produces blocks until the intent is in the state; for a chain whose flow is held. */
  async passTo(name: Name, id: string, state: string): Promise<PublicIntent> {
    await this.passUntil(name, `${id} to be ${state}`, async () => (await this.shown(id)).state === state);
    return this.shown(id);
  }

  /** The intent in the ledger, with the fields that the API does not show. */
  async stored(id: string): Promise<PaymentIntent> {
    const { rows } = await this.cluster.database.sql.query<{ state: string }>(
      'SELECT state FROM ledger.intents WHERE id = $1',
      [id],
    );
    return decodeIntent(rows[0]?.state ?? '');
  }

  async counted(id: string, transfers: number): Promise<void> {
    await until(
      `${id} to count ${transfers} transfers`,
      async () => (await this.stored(id)).transfers.length === transfers,
      WITHIN_MS,
    );
  }

  /** The types of the intent's public events. */
  async types(id: string): Promise<readonly string[]> {
    return (await this.api.events(id)).body.events.map(({ type }) => type);
  }

  /** The payments that its public events report, oldest first. */
  async payments(id: string): Promise<readonly PublicPayment[]> {
    return (await this.api.events(id)).body.events.flatMap(({ data }) => data.payment ?? []);
  }

  /** All of the intent's events in the log. */
  async log(id: string): Promise<readonly LoggedEvent[]> {
    const { events } = await until('the log to be read', () => readWholeLog(this.cluster), WITHIN_MS);
    return events.filter(({ intentId }) => intentId === id).map(({ type, data }) => ({ type, data }));
  }
}
