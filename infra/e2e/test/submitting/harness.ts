import { expect } from '@jest/globals';
import { decodeIntent, parseCommand, partitionOf } from '@pf/contracts';
import type { CommandType, IntentId, PaymentIntent, PublicIntent } from '@pf/domain';
import type { LogReader } from '@pf/event-log';
import { base58 } from '@scure/base';
import { keccak256, toHex } from 'viem';
import {
  type ApiResponse,
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  type StackChain,
  type StackWallet,
  startCluster,
  until,
  upstreamEnvironment,
} from '@pf/testing';
import {
  type Anvil,
  type LocalSolana,
  type RpcProxy,
  startAnvil,
  startRpcProxy,
  startSolana,
  startTempo,
  type Tempo,
} from '@pf/testing/chains';
import { type ChainWallet, newWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import { BlockFlow } from '../block-flow.ts';
import { type Name, NAMES } from '../chain-names.ts';

const AMOUNT = '3';
export const UNITS = 3_000_000n;
/** The RPC methods that send a transaction. */
export const SENDS: readonly string[] = ['eth_sendRawTransaction', 'sendTransaction'];
const BLOCK_MS = 300;
const WAIT_MS = 60_000;
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];
/** Base units of each chain's USDC; on Tempo also for fees. */
const FUNDS = 100n * UNITS;
const WEI = 10n ** 18n;
const LAMPORTS = 1_000_000_000n;

/** An intent with a new wallet as requestor: its balance is what was paid. */
export interface NewIntent {
  readonly name: Name;
  readonly id: string;
  readonly merchant: ChainWallet;
}

/** A payment that a payer has signed for an intent. */
export interface Signed extends NewIntent {
  readonly payer: StackWallet;
  readonly blob: string;
  /** Base64. */
  readonly bytes: string;
  readonly hash: string;
}

/** A gateway that is to be killed. */
export interface Victim {
  readonly instance: Instance;
  readonly api: ApiClient;
}

/**
 * What distinguishes responses to a submit: status, error code, state and hash (also the hash of a claim whose
 * broadcast is in doubt).
 */
export interface SubmitSummary {
  readonly status: number;
  readonly code: string | undefined;
  readonly state: string | undefined;
  readonly txSignature: string | undefined;
}

/** The errors of a busy service, or of busy upstreams: clients repeat the request safely. */
const BUSY: readonly (string | undefined)[] = ['rpc.unavailable', 'service.unavailable'];
export const isBusy = ({ body }: ApiResponse<unknown>): boolean => BUSY.includes(body.error?.code);
const whileBusy = <Body>(request: () => Promise<ApiResponse<Body>>): Promise<ApiResponse<Body>> =>
  until(
    'a response that is not "busy"',
    async () => {
      const response = await request();
      return !isBusy(response) && response;
    },
    WAIT_MS,
  );

const hashOf = (name: Name, bytes: string): string => {
  const raw = Buffer.from(bytes, 'base64');
  return name === 'solana' ? base58.encode(raw.subarray(1, 65)) : keccak256(raw);
};

/** Three chains and the services; one gateway reaches the chains through upstreams with injectable faults. */
export class SubmittingHarness {
  readonly chains: { readonly base: Anvil; readonly solana: LocalSolana; readonly tempo: Tempo };
  readonly flows: Readonly<Record<Name, BlockFlow>>;
  /** Two per chain, to the same node: the upstreams of the shaky gateway and of victims. */
  readonly upstreams: Readonly<Record<Name, readonly [RpcProxy, RpcProxy]>>;
  readonly cluster: Cluster;
  readonly writer: Instance;
  readonly api: ApiClient;
  readonly shaky: ApiClient;
  readonly reader: LogReader;

  private constructor(
    dependencies: Pick<SubmittingHarness, 'chains' | 'upstreams' | 'cluster' | 'writer' | 'api' | 'shaky' | 'reader'>,
  ) {
    this.chains = dependencies.chains;
    this.upstreams = dependencies.upstreams;
    this.cluster = dependencies.cluster;
    this.writer = dependencies.writer;
    this.api = dependencies.api;
    this.shaky = dependencies.shaky;
    this.reader = dependencies.reader;
    const flow = (name: Name): BlockFlow => new BlockFlow(async () => void (await this.pass(name)), BLOCK_MS);
    this.flows = { base: flow('base'), solana: flow('solana'), tempo: flow('tempo') };
  }

  static async open(): Promise<SubmittingHarness> {
    const [base, solana, tempo] = await Promise.all([startAnvil(), startSolana(), startTempo()]);
    const chains = { base, solana, tempo };
    const both = ({ rpcUrl }: StackChain): Promise<[RpcProxy, RpcProxy]> =>
      Promise.all([startRpcProxy(rpcUrl), startRpcProxy(rpcUrl)]);
    const upstreams = { base: await both(base), solana: await both(solana), tempo: await both(tempo) };
    const cluster = await startCluster(readBackingStack(), Object.values(chains));
    const [plain, shaky, writer] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('gateway', { env: throughUpstreams(chains, upstreams) }),
      // A writer that is paused for some seconds must stay in its consumer group.
      cluster.start('intent', { env: { KAFKA_SESSION_TIMEOUT_MS: '30000' } }),
      cluster.start('watcher'),
    ]);
    const client = ({ url }: Instance): ApiClient => apiClient(`${url}/v1`, cluster.apiKeys.test);
    return new SubmittingHarness({
      chains,
      upstreams,
      cluster,
      writer,
      api: client(plain),
      shaky: client(shaky),
      reader: await cluster.log.reader('test'),
    });
  }

  async close(): Promise<void> {
    await Promise.allSettled(NAMES.map((name) => this.flows[name].hold()));
    await this.reader.close();
    await this.cluster.close();
    await Promise.all(
      [...Object.values(this.upstreams).flat(), ...Object.values(this.chains)].map((started) => started.stop()),
    );
  }

  /** Starts a gateway that will be killed; it uses the faulty upstreams. */
  async victim(): Promise<Victim> {
    const instance = await this.cluster.start('gateway', {
      env: { ...throughUpstreams(this.chains, this.upstreams), LOG_LEVEL: 'debug' },
    });
    return { instance, api: apiClient(`${instance.url}/v1`, this.cluster.apiKeys.test) };
  }

  /** Produces a block or slot. */
  async pass(name: Name): Promise<void> {
    if (name === 'solana') await this.chains.solana.advance();
    else await this.chains[name].mine();
  }

  usdcOn(name: Name): string {
    return this.chains[name].tokens['USDC'] ?? '';
  }
  /** Each scenario has its own payers, so that none waits for another's nonce. */
  walletOf(name: Name, place: number): StackWallet {
    return this.chains[name].wallets[place] as StackWallet;
  }
  /** New wallets with enough for a payment and its fee. Needs blocks to be produced. */
  async funded(name: Name, count: number): Promise<StackWallet[]> {
    const wallets = Array.from({ length: count }, () => newWallet(this.chains[name]));
    for (const { address } of wallets) await this.#fund(name, address);
    const last = walletOn(this.chains[name], wallets.at(-1) ?? this.walletOf(name, 0));
    await until('the last one to be funded', async () => (await last.tokenBalance(this.usdcOn(name))) > 0n);
    return wallets;
  }
  async #fund(name: Name, address: string): Promise<void> {
    const usdc = this.usdcOn(name);
    switch (name) {
      case 'base':
        await this.chains.base.rpc('anvil_setBalance', address, toHex(WEI));
        return this.chains.base.asTokenOwner(usdc, 'mint', [address, FUNDS]);
      case 'solana':
        await this.chains.solana.airdrop(address, LAMPORTS);
        return void (await this.chains.solana.mint(address, usdc, FUNDS));
      case 'tempo':
        return void (await tempoWallet(this.chains.tempo, this.walletOf('tempo', 0)).transfer(usdc, address, FUNDS));
    }
  }

  /** @param more fields of the request */
  async create(name: Name, more: object = {}): Promise<NewIntent & { readonly reference: string }> {
    const merchant = walletOn(this.chains[name], newWallet(this.chains[name]));
    const { status, body } = await whileBusy(() =>
      this.api.create({
        chain: this.chains[name].caip2,
        token: 'USDC',
        amount: AMOUNT,
        requestor: merchant.address,
        ...more,
      }),
    );
    expect([status, body.error]).toEqual([201, undefined]);
    return { name, id: body.intent.id, merchant, reference: body.intent.reference };
  }
  async sign(intent: NewIntent, payer: StackWallet): Promise<Signed> {
    const { name, id } = intent;
    const { status, body } = await whileBusy(() => this.api.build(id, payer.address));
    expect([status, body.error]).toEqual([200, undefined]);
    const { blob } = body.transaction;
    return this.signedAs(intent, payer, blob, await walletOn(this.chains[name], payer).sign(blob));
  }
  signedAs({ name, id, merchant }: NewIntent, payer: StackWallet, blob: string, bytes: string): Signed {
    return { name, id, merchant, payer, blob, bytes, hash: hashOf(name, bytes) };
  }
  async signedBy(name: Name, payer: StackWallet): Promise<Signed> {
    return this.sign(await this.create(name), payer);
  }
  /** Submits, and repeats it while the service is busy. @param text what is submitted: by default the signed bytes */
  async submit(
    api: ApiClient,
    payment: Signed,
    text = payment.bytes,
    headers: Record<string, string> = {},
  ): Promise<SubmitSummary> {
    return summaryOf(await whileBusy(() => post(api, payment, text, headers)));
  }
  async submitOnce(api: ApiClient, payment: Signed): Promise<SubmitSummary> {
    return summaryOf(await post(api, payment, payment.bytes, {}));
  }

  /** True when the node has the transaction, in its pool or in a block. */
  async isKnown({ name, hash }: Signed): Promise<boolean> {
    if (name !== 'solana') return (await this.chains[name].rpc('eth_getTransactionByHash', hash)) !== null;
    const { value } = await this.chains.solana.rpc<{ value: readonly unknown[] }>('getSignatureStatuses', [hash]);
    return value[0] !== null;
  }
  async shown(id: string): Promise<PublicIntent> {
    return (await this.api.get(id)).body.intent;
  }
  /** The intent in the ledger, with the fields that the API does not show. */
  async stored(id: string): Promise<PaymentIntent> {
    const { rows } = await this.cluster.database.sql.query<{ state: string }>(
      'SELECT state FROM ledger.intents WHERE id = $1',
      [id],
    );
    return decodeIntent(rows[0]?.state ?? '');
  }
  reach(id: string, state: string): Promise<PublicIntent> {
    return until(
      `${id} to be ${state}`,
      async () => {
        const intent = await this.shown(id);
        return intent.state === state && intent;
      },
      WAIT_MS,
    );
  }
  /** Produces blocks until the intent is in the state; for a chain whose flow is held. */
  passUntil(name: Name, id: string, state: string): Promise<unknown> {
    return until(
      `${id} to be ${state}`,
      async () => (await this.pass(name), (await this.shown(id)).state === state),
      WAIT_MS,
    );
  }
  /** Expects that this payment alone was made, once, and that no payer had to sign again. */
  async expectPaidOnce({ id, name, merchant, payer, hash }: Signed): Promise<void> {
    expect(await this.shown(id)).toMatchObject({
      state: 'finalized',
      txSignature: hash,
      fulfiller: payer.address,
      retryRequired: false,
    });
    expect(await merchant.tokenBalance(this.usdcOn(name))).toBe(UNITS);
    expect((await this.stored(id)).transfers).toHaveLength(1);
    expect((await this.api.events(id)).body.events.map(({ type }) => type)).toEqual(PAID);
  }

  /** The number of commands sent so far. */
  async sent(): Promise<bigint> {
    return (await this.reader.endOffsets('intent.commands')).reduce((sum, end) => sum + end, 0n);
  }
  /** The commands of submits about an intent, in order. */
  async commandsAbout(id: string): Promise<CommandType[]> {
    const partition = partitionOf(id as IntentId);
    const end = (await this.reader.endOffsets('intent.commands'))[partition] ?? 0n;
    const types: CommandType[] = [];
    for await (const { records } of this.reader.read('intent.commands', partition, 0n, end)) {
      for (const { value } of records) {
        const command = parseCommand(value ?? '');
        if ((command.type === 'prepare_submission' || command.type === 'record_broadcast') && command.intentId === id)
          types.push(command.type);
      }
    }
    return types;
  }
}

type SubmitResponse = ApiResponse<{ readonly intent?: PublicIntent; readonly txSignature?: string }>;
const post = (
  api: ApiClient,
  { id, payer }: Signed,
  text: string,
  headers: Record<string, string>,
): Promise<SubmitResponse> =>
  api.request('POST', `/intents/${id}/submit`, { signedTransaction: text, fulfiller: payer.address }, headers);
const summaryOf = ({ status, body }: SubmitResponse): SubmitSummary => ({
  status,
  code: body.error?.code,
  state: body.intent?.state,
  txSignature: body.txSignature ?? (body.error?.details?.['tx_signature'] as string | undefined),
});

const throughUpstreams = (
  chains: SubmittingHarness['chains'],
  upstreams: SubmittingHarness['upstreams'],
): Record<string, string> =>
  upstreamEnvironment(
    NAMES.map((name) => ({ ...chains[name], rpcUrl: upstreams[name].map(({ url }) => url).join(',') })),
  );
