import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent, Reference } from '@pf/domain';
import { base58 } from '@scure/base';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  imageProgram,
  type Instance,
  LISTED,
  readBackingStack,
  type StackChain,
  type StackWallet,
  startCluster,
  until,
  upstreamEnvironment,
} from '@pf/testing';
import {
  type Anvil,
  contractNamed,
  type LocalSolana,
  type RpcProxy,
  startAnvil,
  startRpcProxy,
  startSolana,
} from '@pf/testing/chains';
import { associatedAccount, evmWallet, newWallet, solanaWallet, walletOn } from '@pf/testing/wallets';
import { createWalletClient, encodeFunctionData, erc20Abi, type Hex, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { whileBusy } from '../responses.ts';

/** Payments that look as if money had come, and payments of others that look like one's own. */

const BLOCK_MS = 250;
const WAIT_MS = 40_000;
const TEST_MS = 60_000;
const SPECKS = 60;
/** An unproven payment is reported after a minute. */
const UNPROVEN_WAIT_MS = 120_000;

let cluster: Cluster;
let api: ApiClient;
let base: Anvil;
let solana: LocalSolana;
/** Between the services and the nodes. */
let proxies: { readonly base: RpcProxy; readonly solana: RpcProxy };
let watcher: Instance;

beforeAll(async () => {
  [base, solana] = await Promise.all([startAnvil({ blockMs: BLOCK_MS }), startSolana({ slotMs: BLOCK_MS })]);
  cluster = await startCluster(readBackingStack(), [base, solana]);
  const [first, second] = await Promise.all([startRpcProxy(base.rpcUrl), startRpcProxy(solana.rpcUrl)]);
  proxies = { base: first, solana: second };
  const env = upstreamEnvironment([
    { ...base, rpcUrl: first.url },
    { ...solana, rpcUrl: second.url },
  ]);
  const [gateway, watching] = await Promise.all([
    cluster.start('gateway', { env }),
    cluster.start('watcher', { env }),
    cluster.start('intent'),
  ]);
  watcher = watching;
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
}, 120_000);
afterAll(async () => {
  await cluster.close();
  await Promise.all([proxies.base.stop(), proxies.solana.stop()]);
  await Promise.all([base.stop(), solana.stop()]);
});

const usdcOf = ({ tokens }: StackChain): string => tokens['USDC'] ?? '';
const walletAt = ({ wallets }: StackChain, place: number): StackWallet => wallets[place] as StackWallet;

async function create(
  chain: StackChain,
  requestor: string,
  amount: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<PublicIntent> {
  const { status, body } = await whileBusy('an intent', () =>
    api.create({ chain: chain.caip2, token: 'USDC', amount, requestor, ...more }),
  );
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}
const shown = async ({ id }: PublicIntent): Promise<PublicIntent> => (await api.get(id)).body.intent;
const eventsOf = async ({ id }: PublicIntent) => (await api.events(id)).body.events;
const eventOf = (intent: PublicIntent, type: string, withinMs = WAIT_MS) =>
  until(`${type} of ${intent.id}`, async () => (await eventsOf(intent)).find((one) => one.type === type), withinMs);
const typesOf = async (intent: PublicIntent): Promise<readonly string[]> =>
  (await eventsOf(intent)).map(({ type }) => type);
const paid = (intent: PublicIntent): Promise<PublicIntent> =>
  until(
    `${intent.id} to be paid`,
    async () => {
      const now = await shown(intent);
      return ['confirmed', 'finalized'].includes(now.state) && now;
    },
    WAIT_MS,
  );
/** In base units: what the account of these intents was told to have received for them. */
async function toldOf(intents: readonly PublicIntent[]): Promise<bigint> {
  const events = (await Promise.all(intents.map(eventsOf))).flat();
  const told = new Map(
    events.flatMap(({ data: { payment } }) =>
      payment === undefined || payment === null
        ? []
        : [[`${payment.txSignature} ${payment.reference}`, BigInt(payment.amountBaseUnits)] as const],
    ),
  );
  return [...told.values()].reduce((sum, amount) => sum + amount, 0n);
}
/** Pays an honest intent of the requestor, which is confirmed when everything before it has been looked at. */
async function payHonestly(chain: StackChain, payer: StackWallet, requestor: string): Promise<void> {
  const intent = await create(chain, requestor, '1');
  await walletOn(chain, payer).pay(usdcOf(chain), requestor, 1_000_000n, intent.reference as Reference);
  await paid(intent);
}

describe('on Solana', () => {
  const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
  const ATA = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
  const DECIMALS = 6;
  /** Instructions of the token program, by their first bytes. */
  const KIND = {
    transfer: 3,
    giveAway: [6, 2, 1],
    letClose: [6, 3, 1],
    mintTo: 7,
    close: 9,
    transferChecked: 12,
    initializeAccount: 18,
    initializeMint: 20,
  } as const;
  const SIZE = { mint: 82, account: 165 } as const;
  /** So little that it only makes the watcher look at the transaction. */
  const NOTICE = 1n;

  const u64 = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    return bytes;
  };
  type Meta = TransactionInstruction['keys'][number];
  const read = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: false });
  const write = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: true });
  const signs = (pubkey: PublicKey, isWritable = false): Meta => ({ pubkey, isSigner: true, isWritable });

  /** An attacker with an account of its own, which it gives away, closes and makes again. */
  class Attacker {
    readonly #wallet: StackWallet;
    readonly #keypair: Keypair;
    readonly mint = new PublicKey(usdcOf(solana));
    readonly own: PublicKey;

    constructor(wallet: StackWallet) {
      this.#wallet = wallet;
      this.#keypair = Keypair.fromSecretKey(base58.decode(wallet.privateKey));
      this.own = associatedAccount(this.key, this.mint, TOKEN);
    }

    get key(): PublicKey {
      return this.#keypair.publicKey;
    }

    token(data: readonly (number | Uint8Array)[], keys: readonly Meta[]): TransactionInstruction {
      const bytes = Buffer.concat(data.map((part) => (typeof part === 'number' ? Buffer.of(part) : part)));
      return new TransactionInstruction({ programId: TOKEN, keys: [...keys], data: bytes });
    }

    allocate(account: Keypair, space: number): TransactionInstruction {
      return SystemProgram.createAccount({
        fromPubkey: this.key,
        newAccountPubkey: account.publicKey,
        space,
        programId: TOKEN,
        lamports: 10_000_000,
      });
    }

    /** A token account of the attacker. */
    open(account: Keypair, mint = this.mint): readonly TransactionInstruction[] {
      const data = [KIND.initializeAccount, this.key.toBytes()];
      return [this.allocate(account, SIZE.account), this.token(data, [write(account.publicKey), read(mint)])];
    }

    openAssociated(owner: PublicKey, mint = this.mint): TransactionInstruction {
      const account = associatedAccount(owner, mint, TOKEN);
      const keys = [signs(this.key, true), write(account), read(owner), read(mint), read(SystemProgram.programId)];
      return new TransactionInstruction({ programId: ATA, keys: [...keys, read(TOKEN)], data: Buffer.of(1) });
    }

    pay(from: PublicKey, to: PublicKey, units: bigint, reference?: string): TransactionInstruction {
      const named = reference === undefined ? [] : [read(new PublicKey(reference))];
      return this.token(
        [KIND.transferChecked, u64(units), DECIMALS],
        [write(from), read(this.mint), write(to), signs(this.key), ...named],
      );
    }

    giveAway(account: PublicKey, owner: PublicKey): TransactionInstruction {
      return this.token([...KIND.giveAway, owner.toBytes()], [write(account), signs(this.key)]);
    }

    /** Its account, which it may close although another wallet owns it. */
    letClose(account: PublicKey): TransactionInstruction {
      return this.token([...KIND.letClose, this.key.toBytes()], [write(account), signs(this.key)]);
    }

    close(account: PublicKey): TransactionInstruction {
      return this.token([KIND.close], [write(account), write(this.key), signs(this.key)]);
    }

    notice(merchant: PublicKey): TransactionInstruction {
      return this.pay(this.own, associatedAccount(merchant, this.mint, TOKEN), NOTICE);
    }

    async send(instructions: readonly TransactionInstruction[], ...signers: Keypair[]): Promise<void> {
      const { connection } = solanaWallet(solana, this.#wallet);
      const { blockhash } = await connection.getLatestBlockhash();
      const message = new TransactionMessage({
        payerKey: this.key,
        recentBlockhash: blockhash,
        instructions: [...instructions],
      });
      const transaction = new VersionedTransaction(message.compileToV0Message());
      transaction.sign([this.#keypair, ...signers]);
      const signature = await connection.sendRawTransaction(transaction.serialize());
      const status = await until(
        `${signature} to land`,
        async () => (await connection.getSignatureStatuses([signature])).value[0],
        WAIT_MS,
      );
      expect(status.err).toBeNull();
    }
  }

  const newMerchant = (): PublicKey => Keypair.generate().publicKey;
  const balanceOf = async (merchant: PublicKey): Promise<bigint> => {
    const account = associatedAccount(merchant, new PublicKey(usdcOf(solana)), TOKEN);
    const { connection } = solanaWallet(solana, walletAt(solana, 0));
    return BigInt((await connection.getTokenAccountBalance(account)).value.amount);
  };

  it(
    'an account that is paid, emptied and given to the requestor pays nothing (R1)',
    async () => {
      const attacker = new Attacker(walletAt(solana, 1));
      const [merchant, account] = [newMerchant(), Keypair.generate()];
      const intent = await create(solana, merchant.toBase58(), '250');
      await attacker.send(
        [
          attacker.openAssociated(merchant),
          ...attacker.open(account),
          attacker.pay(attacker.own, account.publicKey, 250_000_000n, intent.reference),
          attacker.pay(account.publicKey, attacker.own, 250_000_000n),
          attacker.giveAway(account.publicKey, merchant),
          attacker.notice(merchant),
        ],
        account,
      );
      await api.detected(intent.id);
      await payHonestly(solana, walletAt(solana, 2), merchant.toBase58());
      expect(await toldOf([intent])).toBeLessThanOrEqual(NOTICE);
      expect(await shown(intent)).toMatchObject({ state: 'created', fulfiller: null });
      expect(await balanceOf(merchant)).toBe(1_000_000n + NOTICE);
    },
    TEST_MS,
  );

  it(
    'an account that is made again with a worthless mint pays nothing (R1)',
    async () => {
      const attacker = new Attacker(walletAt(solana, 3));
      const [merchant, fake, account] = [newMerchant(), Keypair.generate(), Keypair.generate()];
      const intent = await create(solana, merchant.toBase58(), '250');
      await attacker.send(
        [
          attacker.allocate(fake, SIZE.mint),
          attacker.token([KIND.initializeMint, DECIMALS, attacker.key.toBytes(), 0], [write(fake.publicKey)]),
          ...attacker.open(account),
          attacker.openAssociated(merchant, fake.publicKey),
          attacker.openAssociated(merchant),
        ],
        fake,
        account,
      );
      const worthless = associatedAccount(merchant, fake.publicKey, TOKEN);
      await attacker.send(
        [
          attacker.close(account.publicKey),
          ...attacker.open(account, fake.publicKey),
          attacker.token(
            [KIND.mintTo, u64(250_000_000n)],
            [write(fake.publicKey), write(account.publicKey), signs(attacker.key)],
          ),
          attacker.token(
            [KIND.transfer, u64(250_000_000n)],
            [write(account.publicKey), write(worthless), signs(attacker.key), read(new PublicKey(intent.reference))],
          ),
          attacker.notice(merchant),
        ],
        account,
      );
      await api.detected(intent.id);
      await payHonestly(solana, walletAt(solana, 2), merchant.toBase58());
      expect(await toldOf([intent])).toBeLessThanOrEqual(NOTICE);
      expect((await shown(intent)).state).toBe('created');
    },
    TEST_MS,
  );

  it(
    'one amount that goes round does not pay three intents (R2)',
    async () => {
      const attacker = new Attacker(walletAt(solana, 4));
      const [merchant, account] = [newMerchant(), Keypair.generate()];
      const intents = await Promise.all([1, 2, 3].map(() => create(solana, merchant.toBase58(), '100')));
      const rounds = intents.flatMap(({ reference }) => [
        attacker.pay(attacker.own, account.publicKey, 100_000_000n, reference),
        attacker.pay(account.publicKey, attacker.own, 100_000_000n),
      ]);
      await attacker.send(
        [
          attacker.openAssociated(merchant),
          ...attacker.open(account),
          // The last one stays.
          ...rounds.slice(0, -1),
          attacker.giveAway(account.publicKey, merchant),
          attacker.notice(merchant),
        ],
        account,
      );
      for (const { id } of intents) await api.detected(id);
      await payHonestly(solana, walletAt(solana, 2), merchant.toBase58());
      const states = (await Promise.all(intents.map(shown))).map(({ state }) => state);
      expect(states.filter((state) => state !== 'created').length).toBeLessThanOrEqual(1);
      expect(await toldOf(intents)).toBeLessThanOrEqual(100_000_000n + NOTICE);
    },
    TEST_MS,
  );

  it(
    'tells of no extra and mismatched payments that never came (R3)',
    async () => {
      const attacker = new Attacker(walletAt(solana, 5));
      const [merchant, account] = [newMerchant(), Keypair.generate()];
      const intent = await create(solana, merchant.toBase58(), '5');
      await solanaWallet(solana, walletAt(solana, 5)).transfer(usdcOf(solana), merchant.toBase58(), 5_000_000n, {
        references: [intent.reference],
      });
      await paid(intent);
      await attacker.send(
        [
          ...attacker.open(account),
          ...[5_000_000n, 9_999_000_000n].flatMap((units) => [
            attacker.pay(attacker.own, account.publicKey, units, intent.reference),
            attacker.pay(account.publicKey, attacker.own, units),
          ]),
          attacker.giveAway(account.publicKey, merchant),
          attacker.notice(merchant),
        ],
        account,
      );
      await payHonestly(solana, walletAt(solana, 2), merchant.toBase58());
      const types = await typesOf(intent);
      expect(types).not.toContain('intent.extra_payment');
      expect(types).not.toContain('intent.mismatched_payment');
    },
    TEST_MS,
  );

  /** Refunds a payment of the merchant; resolves with the refund. */
  async function refunded(payer: StackWallet, merchant: StackWallet): Promise<[PublicIntent, PublicIntent]> {
    const intent = await create(solana, merchant.address, '7');
    await walletOn(solana, payer).pay(usdcOf(solana), merchant.address, 7_000_000n, intent.reference as Reference);
    await paid(intent);
    const { status, body } = await api.refund(intent.id);
    expect([status, body.error]).toEqual([201, undefined]);
    return [intent, body.intent];
  }

  it(
    'a refund that lands with another owner fails with the place of the money, and can be made again (R5)',
    async () => {
      const [payer, shop, stranger] = [walletAt(solana, 6), walletAt(solana, 7), newMerchant()];
      const [intent, refund] = await refunded(payer, shop);
      const built = await api.build(refund.id, shop.address);
      expect([built.status, built.body.error]).toEqual([200, undefined]);
      const wallet = solanaWallet(solana, shop);
      const bytes = await wallet.sign(built.body.transaction.blob);
      // The gateway's broadcast is on its way for so long that the payee can give its account away.
      proxies.solana.respond = ({ method, params: [sent] }) => {
        if (method !== 'sendTransaction') return undefined;
        const [signature] = VersionedTransaction.deserialize(Buffer.from(String(sent), 'base64')).signatures;
        return base58.encode(signature ?? new Uint8Array());
      };
      try {
        const { status, body } = await api.submit(refund.id, bytes, shop.address);
        expect([status, body.error]).toEqual([200, undefined]);
        const payee = new Attacker(payer);
        await payee.send([payee.giveAway(payee.own, stranger)]);
        expect(await wallet.connection.sendRawTransaction(Buffer.from(bytes, 'base64'))).toBe(body.txSignature);
        const told = await eventOf(refund, 'intent.mismatched_payment');
        expect(told.data.payment).toMatchObject({ recipient: stranger.toBase58(), differs: ['recipient'] });
        await eventOf(refund, 'intent.failed');
        expect(await shown(refund)).toMatchObject({ state: 'failed', txSignature: body.txSignature });
      } finally {
        proxies.solana.respond = () => undefined;
      }
      const again = await until(
        'the refund to be freed',
        async () => {
          const response = await api.refund(intent.id);
          return response.status === 201 && response.body.intent;
        },
        WAIT_MS,
      );
      expect(again.id).not.toBe(refund.id);
      expect(again).toMatchObject({ refundOf: intent.id, state: 'created' });
      expect((await shown(intent)).refundedBy).toBe(again.id);
    },
    TEST_MS,
  );

  it(
    'a listed former owner of the account is not who has paid a payout or a refund (R9)',
    async () => {
      const shop = new Attacker(walletAt(solana, 0));
      const listed = new PublicKey(LISTED[1].address);
      const payee = newMerchant();
      const payout = await create(solana, payee.toBase58(), '7', {
        direction: 'send',
        fulfiller: shop.key.toBase58(),
      });
      const [intent, refund] = await refunded(walletAt(solana, 2), walletAt(solana, 0));
      for (const { requestor, reference } of [payout, refund]) {
        const [account, owner] = [Keypair.generate(), new PublicKey(requestor)];
        const { publicKey } = account;
        const first = [...shop.open(account), shop.letClose(publicKey), shop.giveAway(publicKey, listed)];
        await shop.send(first, account);
        await shop.send(
          [
            shop.close(publicKey),
            ...shop.open(account),
            ...(requestor === payout.requestor ? [shop.openAssociated(owner)] : []),
            shop.pay(shop.own, publicKey, 7_000_000n),
            shop.pay(publicKey, associatedAccount(owner, shop.mint, TOKEN), 7_000_000n, reference),
          ],
          account,
        );
      }
      for (const one of [payout, refund]) expect(await paid(one)).toMatchObject({ fulfiller: shop.key.toBase58() });
      expect((await shown(intent)).refundedBy).toBe(refund.id);
      await payHonestly(solana, walletAt(solana, 2), payee.toBase58());
      expect(await readFile(watcher.log, 'utf8')).not.toContain('a payment came from a sanctioned wallet');
    },
    TEST_MS,
  );
});

describe('on Base', () => {
  const { abi: puppetAbi, bytecode: puppetCode } = contractNamed('Puppet');
  const EXECUTE = parseAbi(['function execute(address target, uint256 value, bytes data)']);
  const UNITS = 2_000_000n;

  const clientOf = ({ privateKey }: StackWallet) =>
    createWalletClient({
      account: privateKeyToAccount(privateKey as Hex),
      chain: baseSepolia,
      transport: http(base.rpcUrl),
    });
  /** The call of the token that pays this much, with a reference behind it. */
  const paymentCall = (to: string, units: bigint, reference: string): Hex => {
    const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] });
    return `${call}${reference.slice(2)}` as Hex;
  };
  async function landed(hash: Hex): Promise<void> {
    const { client } = evmWallet(base, walletAt(base, 0));
    const { status } = await client.waitForTransactionReceipt({ hash, pollingInterval: 100, timeout: WAIT_MS });
    expect(status).toBe('success');
  }
  /** A contract with money that makes this call of the token whenever it is called, whatever the calldata. */
  async function payingContract(by: StackWallet, data: Hex): Promise<Hex> {
    const { address } = newWallet(base);
    await base.rpc('anvil_setCode', address, puppetCode);
    await base.asTokenOwner(usdcOf(base), 'mint', [address, 100n * UNITS]);
    const step = { target: usdcOf(base) as Hex, data, mayFail: false, topics: [] };
    const script = encodeFunctionData({ abi: puppetAbi, functionName: 'learn', args: [[step]] });
    await landed(await clientOf(by).sendTransaction({ to: address as Hex, data: script, gas: 2_000_000n }));
    return address as Hex;
  }

  it(
    "a caller's calldata does not name the intent that a contract pays (R8)",
    async () => {
      const [caller, merchant] = [walletAt(base, 1), newWallet(base).address];
      const [own, forged] = [await create(base, merchant, '2'), await create(base, merchant, '2')];
      const contract = await payingContract(caller, paymentCall(merchant, UNITS, own.reference));
      const args = [usdcOf(base) as Hex, 0n, paymentCall(merchant, UNITS, forged.reference)] as const;
      const data = encodeFunctionData({ abi: EXECUTE, functionName: 'execute', args });
      await landed(await clientOf(caller).sendTransaction({ to: contract, data, gas: 2_000_000n }));
      expect(await paid(own)).toMatchObject({ fulfiller: contract });
      await payHonestly(base, walletAt(base, 2), merchant);
      expect(await shown(forged)).toMatchObject({ state: 'created', fulfiller: null });
    },
    TEST_MS,
  );

  it(
    'specks of one payer do not keep the payment of a contract from counting (R6)',
    async () => {
      const [spammer, payer] = [walletAt(base, 3), walletAt(base, 4)];
      const [merchant, accomplice] = [newWallet(base).address, newWallet(base).address];
      const bait = await create(base, accomplice, '3');
      const intent = await create(base, merchant, '2');
      const speck = paymentCall(accomplice, 1n, bait.reference);
      const spam = await payingContract(spammer, speck);
      const contract = await payingContract(payer, paymentCall(merchant, UNITS, intent.reference));
      const client = clientOf(spammer);
      const nonce = await evmWallet(base, spammer).client.getTransactionCount({ address: client.account.address });
      for (let place = 0; place < SPECKS; place++)
        await client.sendTransaction({ to: spam, data: speck, gas: 300_000n, nonce: nonce + place });
      const data = paymentCall(merchant, UNITS, intent.reference);
      await landed(await clientOf(payer).sendTransaction({ to: contract, data, gas: 300_000n }));
      expect(await paid(intent)).toMatchObject({ fulfiller: contract });
      expect(await typesOf(intent)).not.toContain('intent.mismatched_payment');
    },
    TEST_MS,
  );

  it(
    'a payment that was reported unproven settles its intent once `pf watch rescan` finds its trace (R7)',
    async () => {
      const [caller, merchant] = [walletAt(base, 7), newWallet(base).address];
      const intent = await create(base, merchant, '2');
      const data = paymentCall(merchant, UNITS, intent.reference);
      const contract = await payingContract(caller, data);
      // anvil has the state of a block for seconds only, and so its trace: the proxy asks for it in time, and keeps it.
      const kept = new Map<string, unknown>();
      let isWithheld = true;
      proxies.base.respond = async ({ method, params }) => {
        if (method === 'trace_filter') return new Error('no state for this block');
        if (method !== 'debug_traceTransaction') return undefined;
        const [hash] = params;
        const name = String(hash);
        const trace = kept.get(name) ?? (await base.rpc(method, ...params).catch(() => undefined));
        if (trace !== undefined) kept.set(name, trace);
        return isWithheld ? new Error('no state for this block') : trace;
      };
      try {
        const hash = await clientOf(caller).sendTransaction({ to: contract, data, gas: 2_000_000n });
        await landed(hash);
        const told = await eventOf(intent, 'intent.mismatched_payment', UNPROVEN_WAIT_MS);
        expect(told.data.payment).toMatchObject({ txSignature: hash, differs: ['reference'] });
        expect((await shown(intent)).state).toBe('created');
        isWithheld = false;
        const { blockNumber } = await evmWallet(base, caller).client.getTransactionReceipt({ hash });
        const rescan = ['watch', 'rescan', '--network', 'base-sepolia', '--from', String(blockNumber), '--json'];
        await promisify(execFile)(process.execPath, [imageProgram(), 'pf', ...rescan], {
          env: { PATH: process.env['PATH'], DATABASE_URL: cluster.databaseUrl },
        });
        expect(await paid(intent)).toMatchObject({ fulfiller: contract, txSignature: hash });
        const reported = ['intent.mismatched_payment', 'intent.mismatch_withdrawn'];
        const paidBy = ['intent.pending', 'intent.confirmed'];
        expect((await typesOf(intent)).slice(0, 5)).toEqual(['intent.created', ...reported, ...paidBy]);
      } finally {
        proxies.base.respond = () => undefined;
      }
    },
    UNPROVEN_WAIT_MS + TEST_MS,
  );

  it(
    'a send intent is settled only by the wallet that it names (R13)',
    async () => {
      const [named, other, payee] = [walletAt(base, 5), walletAt(base, 6), newWallet(base).address];
      const intent = await create(base, payee, '2', { direction: 'send', fulfiller: named.address });
      await walletOn(base, other).pay(usdcOf(base), payee, UNITS, intent.reference as Reference);
      const told = await until(
        'the payment of another wallet to be reported',
        async () => (await eventsOf(intent)).find(({ type }) => type === 'intent.mismatched_payment'),
        WAIT_MS,
      );
      expect(told.data.payment).toMatchObject({ sender: other.address, differs: ['sender'] });
      expect(await shown(intent)).toMatchObject({ state: 'created', fulfiller: named.address });
      const hash = await walletOn(base, named).pay(usdcOf(base), payee, UNITS, intent.reference as Reference);
      expect(await paid(intent)).toMatchObject({ fulfiller: named.address, txSignature: hash });
    },
    TEST_MS,
  );
});
