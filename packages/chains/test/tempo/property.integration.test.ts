import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, Reference } from '@pf/domain';
import { seededRandom } from '@pf/testing';
import { contractNamed } from '@pf/testing/chains';
import * as AuthorizationTempo from 'ox/tempo/AuthorizationTempo';
import * as ReceivePolicyReceipt from 'ox/tempo/ReceivePolicyReceipt';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { encodeAbiParameters, encodeFunctionData, getAddress, type Hex, keccak256, pad, parseAbi, toHex } from 'viem';
import { Account } from 'viem/tempo';
import { GUARD, TRANSFER_BLOCKED, TRANSFER_WITH_MEMO } from '../../src/tempo/observe/landings.ts';
import { learnOf, type PuppetStep } from '../base/contracts.ts';
import { Watcher } from '../conformance/watching.ts';
import type { Frame } from '../evm/traced.ts';
import { startTempoUnderTest, type TempoUnderTest } from './chain.ts';
import { type Order, ordersIn, tip20, ZERO } from './ordered.ts';
import type { payer } from './payments.ts';

/** A run by hand makes more: 5,000 take a few minutes. */
const TRANSACTIONS = Number(process.env['PF_PROPERTY_TRANSACTIONS'] ?? 300);
const SEED = Number(process.env['PF_PROPERTY_SEED'] ?? 36);
const A_BLOCK = 20;
const CALLS_MAX = 5;
const PUPPETS = 7;
/** The puppets from this place on may fail, with all that they did; only other puppets call them. */
const UNDONE = 4;
const CHAIN_ID = 42_431;
const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000';
const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
/** Few amounts, so that transfers are often alike. */
const AMOUNTS = [0n, 1n, 1_000n, 1_000n, 2_000n];
const TOO_MUCH = 10n ** 24n;

const FACTORY = '0x20Fc000000000000000000000000000000000000';
const factory = parseAbi([
  // Name, symbol, currency, quote token, admin, salt.
  'function createToken(string, string, string, address, address, bytes32) returns (address)',
  'function getTokenAddress(address sender, bytes32 salt) view returns (address)',
]);

type Signer = typeof payer;
interface Call {
  readonly to: Hex;
  readonly data: Hex;
}
type Step = Required<PuppetStep>;
interface Landed extends Order {
  readonly hash: string;
  readonly index: string;
}
interface Moved {
  readonly token: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: bigint;
}

let chain: TempoUnderTest;
let watcher: Watcher;
let tokens: readonly Hex[];
/** Anyone can make a token, whose logs are as good as those of any other. */
let worthless: Hex;
let signers: readonly Signer[];
/** Contracts that do in each block what they were told before, whatever they are sent; the last is a merchant. */
let puppets: readonly Hex[];
/** Fails whatever it is sent. */
let failing: Hex;
/** All who have tokens. Each lets each of them move what it has. */
let owners: readonly Hex[];
/** Whoever may mint and burn the first token. */
let issuers: readonly Hex[];
/** Recipients of intents: three that sign, pay and sponsor themselves (one delegates), and three that do not. */
let requestors: readonly Hex[];

const random = seededRandom(SEED);
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const chance = (share: number): boolean => random() < share;
const bytes = (length: number): Hex => `0x${Array.from({ length }, () => pick([...'0123456789abcdef'])).join('')}`;
const addressIn = (topic: string | undefined): Hex => getAddress(`0x${(topic ?? '').slice(26)}`);

const newAddress = (): Hex => getAddress(chain.newRecipient());
async function withCode(code: Hex): Promise<Hex> {
  const address = newAddress();
  await chain.tempo.rpc('anvil_setCode', address, code);
  return address;
}
const tell = (to: Hex, ...call: Parameters<typeof encodeFunctionData<typeof tip20>>): Call => ({
  to,
  data: encodeFunctionData(...call),
});

beforeAll(async () => {
  chain = await startTempoUnderTest();
  tokens = ['USDC', 'AlphaUSD'].map((symbol) => getAddress(chain.tempo.tokens[symbol] ?? ''));
  const { bytecode } = contractNamed('Puppet');
  puppets = await Promise.all(Array.from({ length: PUPPETS }, () => withCode(bytecode)));
  failing = await withCode('0x60006000fd');
  signers = chain.payers.map(({ privateKey }) => Account.fromSecp256k1(privateKey));
  requestors = [
    ...signers.slice(0, 3).map(({ address }) => getAddress(address)),
    ...[1, 2].map(newAddress),
    ...puppets.slice(-1),
  ];
  const [usdc, alpha] = tokens as [Hex, Hex];
  const role = keccak256(toHex('ISSUER_ROLE'));
  issuers = [...signers.slice(2, 4).map(({ address }) => getAddress(address)), ...puppets.slice(0, 1)];
  // The first signer of them is paid, too.
  for (const address of issuers)
    await chain.tempo.asTokenOwner(
      usdc,
      encodeFunctionData({ abi: tip20, functionName: 'grantRole', args: [role, address] }),
    );
  await delegate(signers[0] as Signer, puppets[0] as Hex);
  owners = [...signers.map(({ address }) => getAddress(address)), ...puppets];
  worthless = await newToken(signers.at(-1) as Signer);
  const all = [...tokens, worthless];
  const approvals = all.flatMap((token) =>
    owners.map((spender) => tell(token, { abi: tip20, functionName: 'approve', args: [spender, 10n ** 15n] })),
  );
  const [funder] = signers.slice(-1) as [Signer];
  const funds = all.flatMap((token) =>
    owners.map((owner) => tell(token, { abi: tip20, functionName: 'transfer', args: [owner, 10n ** 9n] })),
  );
  const prepared = [await send(funder, funds, null, alpha, { gas: 25_000_000n })];
  for (const owner of signers) prepared.push(await send(owner, approvals, null, alpha));
  for (const puppet of puppets) prepared.push(await teach(puppet, approvals.map(stepOf), 25_000_000n));
  await chain.tempo.mine(20);
  for (const puppet of puppets) prepared.push(await send(funder, [{ to: puppet, data: '0x' }], null, alpha));
  await chain.tempo.mine(20);
  for (const hash of prepared)
    expect(await chain.tempo.rpc('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
  watcher = new Watcher(chain.observer);
  await watcher.step();
}, 120_000);
afterAll(() => chain.stop());

/** EIP-7702: gives an account that signs a contract's code. */
async function delegate(owner: Signer, to: Hex): Promise<void> {
  const authorization = AuthorizationTempo.from({ address: to, chainId: CHAIN_ID, nonce: 0n });
  const signature = SignatureEnvelope.from(
    await owner.sign({ hash: AuthorizationTempo.getSignPayload(authorization) }),
  );
  const relay = signers.at(-1) as Signer;
  const hash = await send(relay, [{ to: relay.address, data: '0x' }], null, tokens[1] as Hex, {
    authorizationList: [AuthorizationTempo.from(authorization, { signature })],
  });
  await chain.tempo.mine();
  const code = await chain.tempo.rpc<Hex>('eth_getCode', owner.address, 'latest');
  if (code !== `0xef0100${to.slice(2).toLowerCase()}`) throw new Error(`${hash} has delegated nothing: ${code}`);
}

/** A token of its own kind, of which its maker has as much as it likes. */
async function newToken(maker: Signer): Promise<Hex> {
  const salt = keccak256(toHex('worthless'));
  const args = ['Worthless', 'USDC', 'USD', tokens[1] as Hex, maker.address, salt] as const;
  const made = encodeFunctionData({ abi: factory, functionName: 'createToken', args });
  const where = encodeFunctionData({ abi: factory, functionName: 'getTokenAddress', args: [maker.address, salt] });
  const token = getAddress(
    `0x${(await chain.tempo.rpc<Hex>('eth_call', { to: FACTORY, data: where }, 'latest')).slice(-40)}`,
  );
  const role = keccak256(toHex('ISSUER_ROLE'));
  const calls = [
    { to: FACTORY, data: made },
    tell(token, { abi: tip20, functionName: 'grantRole', args: [role, maker.address] }),
    tell(token, { abi: tip20, functionName: 'mint', args: [maker.address, 10n ** 15n] }),
  ] as const;
  await send(maker, calls, null, tokens[1] as Hex);
  return token;
}

/** Makes a puppet, or an account that has its code, learn what it does when it is called. */
const teach = (puppet: Hex, steps: readonly Step[], gas?: bigint): Promise<string> =>
  send(signers.at(-1) as Signer, [{ to: puppet, data: learnOf(steps) }], null, tokens[1] as Hex, {
    ...(gas && { gas }),
  });

/** Signs and sends a transaction of type 0x76 with these calls. */
async function send(
  from: Signer,
  calls: readonly Call[],
  sponsor: Signer | null,
  feeToken: Hex,
  more: Partial<Pick<TxEnvelopeTempo.TxEnvelopeTempo, 'authorizationList' | 'gas'>> = {},
): Promise<string> {
  const envelope = {
    type: 'tempo',
    chainId: CHAIN_ID,
    calls,
    gas: 6_000_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
    feeToken,
    nonceKey: BigInt(bytes(40)) + 1n,
    nonce: 0n,
    ...more,
  } as const;
  const unsigned = { ...envelope, ...(sponsor && { feePayerSignature: null }) };
  const signature = SignatureEnvelope.from(await from.sign({ hash: TxEnvelopeTempo.getSignPayload(unsigned) }));
  const feePayerSignature = sponsor && (await approvalOf(unsigned, sponsor, from));
  const raw = TxEnvelopeTempo.serialize(
    { ...unsigned, ...(feePayerSignature && { feePayerSignature }) },
    { signature },
  );
  return chain.tempo.rpc<string>('eth_sendRawTransaction', raw);
}

async function approvalOf(
  envelope: Parameters<typeof TxEnvelopeTempo.getFeePayerSignPayload>[0],
  sponsor: Signer,
  sender: Signer,
): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: number }> {
  const hash = TxEnvelopeTempo.getFeePayerSignPayload(envelope, { sender: sender.address });
  const approval = SignatureEnvelope.from(await sponsor.sign({ hash }));
  if (approval.type !== 'secp256k1') throw new Error('sponsors sign with secp256k1');
  const { r, s, yParity } = approval.signature;
  if (yParity === undefined) throw new Error('a signature has a parity');
  return { r, s, yParity };
}

/** What the calls of a transaction, or of a contract, are about: often one account and one token. */
interface Scene {
  readonly memos: readonly Hex[];
  readonly tokens: readonly Hex[];
  readonly paid: readonly Hex[];
}
const sceneOf = (memos: readonly Hex[]): Scene => ({
  memos,
  tokens: chance(0.5) ? [pick(tokens)] : [...tokens, worthless],
  paid: chance(0.5) ? [pick(requestors)] : requestors,
});

/** A random call of a token by this account. */
function callOf(self: Hex, scene: Scene): Call {
  const token = pick(scene.tokens);
  const to = chance(0.8) ? pick(scene.paid) : getAddress(pick(signers).address);
  const amount = chance(0.02) ? TOO_MUCH : pick(AMOUNTS);
  const memo = chance(0.9) ? pick(scene.memos) : bytes(64);
  // Often one that is paid, too, so that what it got goes out again, or goes to itself.
  const owner = chance(0.4) ? pick(scene.paid) : pick(owners);
  const isIssuer = issuers.includes(self) && token === tokens[0];
  switch (Math.floor(random() * (isIssuer ? 8 : 4))) {
    case 0:
      return tell(token, { abi: tip20, functionName: 'transfer', args: [to, amount] });
    case 1:
      return tell(token, { abi: tip20, functionName: 'transferFrom', args: [owner, to, amount] });
    case 2:
      return tell(token, { abi: tip20, functionName: 'transferFromWithMemo', args: [owner, to, amount, memo] });
    case 4:
      return tell(token, { abi: tip20, functionName: 'mint', args: [to, amount] });
    case 5:
      return tell(token, { abi: tip20, functionName: 'mintWithMemo', args: [to, amount, memo] });
    case 6:
      return tell(token, { abi: tip20, functionName: 'burn', args: [amount] });
    case 7:
      return tell(token, { abi: tip20, functionName: 'burnWithMemo', args: [amount, memo] });
    default:
      return tell(token, { abi: tip20, functionName: 'transferWithMemo', args: [to, amount, memo] });
  }
}

const stepOf = ({ to, data }: Call): Step => ({ target: to, data, mayFail: chance(0.9), topics: [] });
const logOf = (topics: readonly Hex[], data: Hex): Step => ({ target: ZERO, data, mayFail: true, topics });

/** Logs of a puppet that look like those of a payment: whole, or beside a transfer that it makes. */
function forged(scene: Scene): readonly Step[] {
  const [token, to, amount, memo] = [pick(scene.tokens), pick(scene.paid), pick(AMOUNTS), pick(scene.memos)];
  const from = pick([...puppets, ...requestors]);
  const units = toHex(amount, { size: 32 });
  const moved = logOf([TRANSFER, pad(from), pad(to)], units);
  const said = logOf([TRANSFER_WITH_MEMO as Hex, pad(from), pad(to), memo], units);
  switch (Math.floor(random() * 4)) {
    case 0:
      return [moved, said];
    case 1:
      return [stepOf(tell(token, { abi: tip20, functionName: 'transfer', args: [to, amount] })), said];
    case 2:
      return [stepOf(tell(token, { abi: tip20, functionName: 'transferWithMemo', args: [to, amount, memo] })), moved];
    default:
      return [
        stepOf(tell(token, { abi: tip20, functionName: 'transfer', args: [GUARD as string as Hex, amount] })),
        keptBack(token, from, to, amount, memo),
      ];
  }
}
/** What the guard logs of a payment that a receive policy has kept back (TIP-1028). */
function keptBack(token: Hex, originator: Hex, recipient: Hex, amount: bigint, memo: Hex): Step {
  const witness = ReceivePolicyReceipt.encode({
    version: 1,
    token,
    recoveryAuthority: ZERO,
    originator,
    recipient,
    blockedAt: 1_795_000_000n,
    blockedNonce: 7n,
    blockedReason: 'receivePolicy',
    kind: 'transfer',
    memo,
  });
  const types = [{ type: 'uint256' }, { type: 'uint8' }, { type: 'bytes' }] as const;
  return logOf(
    [TRANSFER_BLOCKED as Hex, pad(token), pad(recipient), pad('0x07')],
    encodeAbiParameters(types, [amount, 1, witness]),
  );
}

/** What a puppet does when it is called. It calls only those after it, so that this ends. */
function scriptOf(place: number, scene: Scene): readonly Step[] {
  const own = puppets[place] as Hex;
  const steps: Step[] = [];
  const length = 1 + Math.floor(random() * 4);
  while (steps.length < length) {
    const what = random();
    if (what < 0.6) steps.push(stepOf(callOf(own, scene)));
    else if (what < 0.75 && place + 1 < puppets.length)
      steps.push({ ...stepOf({ to: pick(puppets.slice(place + 1)), data: '0x' }), mayFail: true });
    else if (what < 0.95) steps.push(...forged(scene));
    // What it has done before is undone: whoever calls it may go on.
    else steps.push({ ...stepOf({ to: failing, data: '0x' }), mayFail: place < UNDONE });
  }
  return steps;
}

/** A block of random transactions. @returns their hashes */
async function play(memos: readonly Hex[]): Promise<readonly string[]> {
  const delegated = getAddress((signers[0] as Signer).address);
  for (const place of puppets.keys()) await teach(puppets[place] as Hex, scriptOf(place, sceneOf(memos)));
  const own = sceneOf(memos);
  await teach(delegated, [stepOf(callOf(delegated, own)), stepOf(callOf(delegated, own))]);
  await chain.tempo.mine();
  const sent: string[] = [];
  for (let count = 0; count < A_BLOCK; count += 1) {
    const sender = pick(chance(0.4) ? signers.slice(0, 3) : signers);
    const scene = sceneOf(memos);
    const calls = Array.from({ length: 1 + Math.floor(random() * CALLS_MAX) }, () =>
      chance(0.25)
        ? { to: pick([...puppets.slice(0, UNDONE), delegated]), data: bytes(8) }
        : callOf(getAddress(sender.address), scene),
    );
    const sponsor = chance(0.3) ? pick(signers.filter((one) => one !== sender)) : null;
    sent.push(await send(sender, calls, sponsor, pick(tokens)));
  }
  await chain.tempo.mine(5);
  return sent;
}

interface Raw {
  readonly status: Hex;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}
/** What the tokens say was moved in a transaction, and what they were told. The fee is not in it. */
async function movedIn(hash: string): Promise<{
  readonly isGood: boolean;
  readonly moved: readonly Moved[];
  readonly fee: readonly Moved[];
  readonly orders: readonly Order[];
}> {
  const receipt = await chain.tempo.rpc<Raw | null>('eth_getTransactionReceipt', hash);
  if (receipt === null) throw new Error(`${hash} of seed ${SEED} is in no block`);
  const trace = await chain.tempo.rpc<Frame>('debug_traceTransaction', hash, { tracer: 'callTracer' });
  const moved = receipt.logs.flatMap(({ address, topics: [event, from, to], data }): Moved[] => {
    const token = getAddress(address);
    return event === TRANSFER && tokens.includes(token)
      ? [{ token, from: addressIn(from), to: addressIn(to), amount: BigInt(data) }]
      : [];
  });
  const orders = ordersIn(trace, tokens);
  const hasFee = moved.at(-1)?.to === FEE_MANAGER;
  const [rest, fee] = hasFee ? [moved.slice(0, -1), moved.slice(-1)] : [moved, []];
  return { isGood: receipt.status === '0x1', moved: rest, fee, orders };
}
const gainOf = (moved: readonly Moved[], token: string, account: string): bigint =>
  moved.reduce(
    (sum, one) =>
      one.token !== token
        ? sum
        : sum + (one.to === account ? one.amount : 0n) - (one.from === account ? one.amount : 0n),
    0n,
  );
const balances = (): Promise<readonly bigint[]> =>
  Promise.all(
    tokens.flatMap((token) =>
      requestors.map(async (account) => {
        const data = encodeFunctionData({ abi: tip20, functionName: 'balanceOf', args: [account] });
        return BigInt(await chain.tempo.rpc<Hex>('eth_call', { to: token, data }, 'latest'));
      }),
    ),
  );

/** What an account pays itself is worth nothing. */
const isPaid = ({ from, to }: Pick<Order, 'from' | 'to'>): boolean => from !== to;
const sumOf = (all: readonly { readonly amount: bigint }[]): bigint =>
  all.reduce((sum, { amount }) => sum + amount, 0n);
const paymentOf = ({ from, amount, memo }: Order): Pick<Order, 'from' | 'amount' | 'memo'> => ({ from, amount, memo });
const nameOf = ({ token, from, to, memo }: Order): string => `${token} ${from} ${to} ${memo}`;

async function observe(): Promise<readonly Landed[]> {
  const found = new Map<string, Landed>();
  for (const one of await watcher.step()) {
    if (one.type !== 'landed') throw new Error(`nothing was submitted, and it is observed as ${one.type}`);
    const { hash, transfer } = one.data;
    const { index, amount, reference } = transfer;
    const [token, from, to] = [transfer.tokenAddress, transfer.from, transfer.to] as unknown as readonly [
      Hex,
      Hex,
      Hex,
    ];
    found.set(`${hash} ${index}`, { hash, index, token, from, to, amount, memo: reference as string as Hex });
  }
  return [...found.values()];
}

describe('random transactions on Tempo', () => {
  it(
    'pay an intent what its recipient has gained at most, and all of it where nothing of that went out again',
    async () => {
      let [made, failed, counted, reduced, nested] = [0, 0, 0, 0, 0];
      while (made < TRANSACTIONS) {
        const memos = requestors.map((requestor) => {
          const reference = bytes(64);
          watcher.watched.add(`pi_${reference}`, {
            chain: chain.adapter.network.chain,
            tokenAddress: tokens[0] as string as never,
            amount: 1_000n,
            requestor: requestor as string as Address,
            reference: reference as string as Reference,
          });
          return reference;
        });
        const before = await balances();
        const sent = await play(memos);
        const landed = await observe();
        const all: Moved[] = [];
        for (const hash of sent) {
          const { isGood, moved, fee, orders } = await movedIn(hash);
          all.push(...moved, ...fee);
          const ofOne = landed.filter((one) => one.hash === hash);
          nested += ofOne.filter(({ from }) => puppets.includes(from)).length;
          if (!isGood) {
            failed += 1;
            expect(ofOne).toEqual([]);
            continue;
          }
          for (const [name, own] of Map.groupBy(ofOne, nameOf)) {
            const ordered = orders.filter((one) => nameOf(one) === name);
            expect({ hash, name, isOrdered: own.length <= ordered.length }).toEqual({ hash, name, isOrdered: true });
          }
          for (const token of tokens)
            for (const to of requestors) {
              const name = `${hash} of seed ${SEED}, ${token} to ${to}`;
              const isOwn = (one: Order): boolean => one.token === token && one.to === to;
              const own = ofOne.filter(isOwn);
              const gained = gainOf(moved, token, to);
              expect({ name, isAtMost: sumOf(own) <= (gained > 0n ? gained : 0n) }).toEqual({ name, isAtMost: true });
              const said = orders.filter((one) => isOwn(one) && isPaid(one));
              const spent = moved.filter((one) => one.token === token && one.from === to && one.to !== to);
              const named = said.filter(({ memo }) => memos.includes(memo));
              if (spent.length === 0)
                expect({ name, paid: own.filter(isPaid).map(paymentOf) }).toEqual({
                  name,
                  paid: named.map(paymentOf),
                });
              else {
                reduced += own.length;
                // What was paid without a memo went first; the rest is shared by all that has one.
                const left = sumOf(said) - sumOf(spent);
                const isShared = left > 0n && named.length === said.length;
                if (isShared || left <= 0n)
                  expect({ name, sum: sumOf(own) }).toEqual({ name, sum: isShared ? left : 0n });
              }
            }
        }
        // The logs say the truth.
        const after = await balances();
        expect(after.map((units, place) => units - (before[place] ?? 0n))).toEqual(
          tokens.flatMap((token) => requestors.map((one) => gainOf(all, token, one))),
        );
        for (const terms of [...watcher.watched.all()]) watcher.watched.drop(terms);
        made += sent.length;
        counted += landed.length;
      }
      expect(counted).toBeGreaterThan(reduced);
      expect(reduced).toBeGreaterThan(0);
      process.stdout.write(
        `${made} transactions, of which ${failed} failed: ${counted} payments counted, of them ${nested} of ` +
          `contracts and ${reduced} to accounts that spent, too\n`,
      );
    },
    Math.max(300_000, TRANSACTIONS * 1_000),
  );
});
