import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, PaymentTerms, Reference } from '@pf/domain';
import { type RpcPool, upstreamAt } from '@pf/rpc';
import { seededRandom } from '@pf/testing';
import { contractNamed } from '@pf/testing/chains';
import { bundleOf, ENTRY_POINTS, installEntryPoint, newSmartWallet, type SmartWallet } from '@pf/testing/wallets';
import {
  concat,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  pad,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { NO_REFERENCE } from '../../src/base/observe/no-reference.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { callsIn, type Frame } from '../evm/traced.ts';
import { type BaseUnderTest, poolOver, startBase } from './chain.ts';
import { batchOf, executeOf, learnOf, MODES } from './contracts.ts';

/** A run by hand makes more: 5,000 take about six minutes. */
const TRANSACTIONS = Number(process.env['PF_PROPERTY_TRANSACTIONS'] ?? 100);
const SEED = Number(process.env['PF_PROPERTY_SEED'] ?? 36);
const PUPPETS = 9;
const INTENTS = 10;
const GAS = toHex(1_900_000);
/** Few amounts, so that transfers are often alike. */
const AMOUNTS = [1_000_000n, 2_000_000n];
const { bytecode: puppetCode } = contractNamed('Puppet');
const { bytecode: delegateCode } = contractNamed('Delegate');
const { abi: tokenAbi } = contractNamed('Stablecoin');

/** A step of a puppet, or a call of an account. */
interface Step {
  readonly target: Hex;
  readonly data: Hex;
  readonly mayFail: boolean;
  readonly topics: readonly Hex[];
}
/** What an account tells a token to do, with a reference. */
interface Order {
  readonly from: string;
  readonly token: string;
  readonly to: string;
  readonly amount: bigint;
  readonly reference: string;
}
interface Landed {
  readonly hash: string;
  readonly index: string;
  readonly from: string;
  readonly to: string;
  readonly token: string;
  readonly amount: bigint;
  readonly reference: string;
}

let base: BaseUnderTest;
/** What an observer's upstream has beside receipts, and what that proves. */
interface View {
  readonly name: string;
  readonly watcher: Watcher;
  /** True where all that an account was told by itself counts, whether it has done it or not. */
  readonly byCalldata: boolean;
  /** True where it explains every transfer, so that nothing waits. */
  readonly isWhole: boolean;
}
let views: readonly View[];
const pools: RpcPool[] = [];
let tokens: readonly Hex[];
let puppets: readonly Hex[];
/** Recipients of intents. The first two are puppets, which can send money back. */
let requestors: readonly Hex[];
let delegated: readonly Hex[];
/** Fails whatever it is sent. */
let failing: Hex;
let wallets: readonly SmartWallet[];
const signers = [1, 2].map(() => privateKeyToAccount(generatePrivateKey()));

const random = seededRandom(SEED);
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const chance = (share: number): boolean => random() < share;

beforeAll(async () => {
  base = await startBase();
  const { rpc, mine } = base.anvil;
  tokens = [base.anvil.tokens['USDC'] as Hex, base.anvil.tokens['EURC'] as Hex];
  await rpc('anvil_autoImpersonateAccount', true);
  await installEntryPoint(base.anvil, '0.7');
  wallets = [await newSmartWallet(base.anvil, '0.7'), await newSmartWallet(base.anvil, '0.7')];
  const withCode = async (code: Hex): Promise<Hex> => {
    const address = getAddress(privateKeyToAddress(generatePrivateKey()));
    await rpc('anvil_setCode', address, code);
    await rpc('anvil_setBalance', address, toHex(10n ** 21n));
    return address;
  };
  puppets = await Promise.all(Array.from({ length: PUPPETS }, () => withCode(puppetCode)));
  const merchants = await Promise.all([withCode(puppetCode), withCode(puppetCode)]);
  requestors = [
    ...merchants,
    ...Array.from({ length: 3 }, () => getAddress(privateKeyToAddress(generatePrivateKey()))),
  ];
  // EIP-7702: the code of an account that delegates names the contract whose code it has.
  const delegate = await withCode(delegateCode);
  delegated = await Promise.all([1, 2, 3].map(() => withCode(concat(['0xef0100', delegate]))));
  failing = await withCode('0x60006000fd');
  const all = [...puppets, ...merchants, ...delegated, ...wallets.map(({ address }) => address)];
  for (const token of tokens) {
    for (const account of [...all, ...signers.map(({ address }) => address)])
      await base.anvil.asTokenOwner(token, 'mint', [account, 10n ** 15n]);
    // Some may pull from others what these have not ordered.
    for (const account of [...puppets, ...merchants]) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [pick(puppets), 10n ** 15n] });
      await rpc('eth_sendTransaction', { from: account, to: token, data, gas: GAS });
    }
    for (const puppet of puppets) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [puppet, 10n ** 15n] });
      await rpc('eth_sendTransaction', { from: delegated[2], to: token, data, gas: GAS });
    }
    await mine(2);
  }
  views = [
    viewOf('traces', []),
    viewOf('calls of tokens', ['debug_traceTransaction']),
    viewOf('calldata alone', ['debug_traceTransaction', 'trace_filter']),
  ];
  for (const { watcher } of views) await watcher.step();
}, 60_000);
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await base.stop();
});

function viewOf(name: string, unsupported: readonly string[]): View {
  const pool = poolOver([{ ...upstreamAt(base.anvil.rpcUrl), plan: { unsupported } }]);
  pools.push(pool);
  return {
    name,
    watcher: new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now)),
    byCalldata: unsupported.length > 1,
    isWhole: unsupported.length === 0,
  };
}

let ids = 0;
function watchedFor(terms: PaymentTerms): PaymentTerms {
  ids += 1;
  for (const { watcher } of views) watcher.watched.add(`pi_${ids}`, terms);
  return terms;
}
const newIntent = (requestor = pick(requestors)): PaymentTerms =>
  watchedFor({
    chain: base.adapter.network.chain,
    tokenAddress: pick(tokens) as string as PaymentTerms['tokenAddress'],
    amount: pick(AMOUNTS),
    requestor: requestor as string as Address,
    reference: base.adapter.newReference(),
  });
/** Another intent, which is paid by the same transfer. */
const twinOf = (terms: PaymentTerms): PaymentTerms => watchedFor({ ...terms, reference: base.adapter.newReference() });
/** Half of them differ from another one in their reference alone. */
function newIntents(): readonly PaymentTerms[] {
  const some = Array.from({ length: INTENTS / 2 }, () => newIntent());
  return [...some, ...some.map(twinOf)];
}

/** The calls, bundles and transactions of a round, and what its accounts are told to order: some of it is undone. */
class Round {
  readonly orders: Order[] = [];
  readonly intents = newIntents();

  transfer(from: string, terms: PaymentTerms): Step {
    const { tokenAddress: token, requestor: to, amount, reference } = terms;
    this.orders.push({ from, token, to, amount, reference });
    return call(token as string as Hex, encodePayment(to, amount, reference) as Hex);
  }
  /** A call of a token that is not quite the payment of an intent, or is. */
  anyTransfer(from: string): Step {
    const terms = pick(this.intents);
    const changed = {
      ...terms,
      ...(chance(0.2) && { amount: pick(AMOUNTS) }),
      ...(chance(0.1) && { tokenAddress: pick(tokens) as string as PaymentTerms['tokenAddress'] }),
      ...(chance(0.2) && { requestor: pick([...requestors, ...puppets]) as string as Address }),
      ...(chance(0.2) && { reference: pick(this.intents).reference }),
    };
    if (chance(0.8)) return this.transfer(from, changed);
    const args = [changed.requestor as string as Hex, changed.amount] as const;
    return call(
      changed.tokenAddress as string as Hex,
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
    );
  }
  async authorized(terms: PaymentTerms): Promise<Step> {
    const signer = pick(signers);
    const { tokenAddress: token, requestor: to, amount, reference } = terms;
    const message = {
      from: signer.address,
      to: to as string as Hex,
      value: amount,
      validAfter: 0n,
      validBefore: 2n ** 48n,
      nonce: reference as string as Hex,
    };
    const symbol = (token as string) === tokens[0] ? 'USDC' : 'EURC';
    const signature = await signer.signTypedData({
      domain: { name: symbol, version: '2', chainId: 84_532, verifyingContract: token as string as Hex },
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'TransferWithAuthorization',
      message,
    });
    this.orders.push({ from: signer.address, token, to, amount, reference });
    const name = 'transferWithAuthorization';
    const abi = tokenAbi.filter((one) => one.type === 'function' && one.name === name && one.inputs.length === 7);
    const args = [message.from, to, amount, 0n, 2n ** 48n, reference, signature];
    return call(token as string as Hex, encodeFunctionData({ abi, functionName: name, args }));
  }
  /** What a puppet does when it is called. It calls only those after it, so that this ends. */
  async script(own: Hex, place: number): Promise<readonly Step[]> {
    const steps: Step[] = [];
    const length = 1 + Math.floor(random() * 4);
    while (steps.length < length) {
      const what = random();
      if (what < 0.5) steps.push(this.anyTransfer(own));
      else if (what < 0.65) steps.push(this.pull());
      else if (what < 0.7) steps.push(...this.takenBack(own));
      else if (what < 0.77)
        steps.push(call(pick([...requestors.slice(0, 2), ...puppets.slice(place + 1)]), this.noise()));
      else if (what < 0.85) steps.push(this.forgedLog(own));
      else if (what < 0.93) steps.push(await this.authorized(pick(this.intents)));
      else steps.push(this.back(own));
    }
    return steps;
  }
  /** Takes from another account by its allowance, with a reference behind the arguments. */
  pull(
    { tokenAddress, requestor, amount, reference } = pick(this.intents),
    from = pick([...puppets, ...requestors.slice(0, 2), ...delegated.slice(2)]),
  ): Step {
    const args = [from, requestor as string as Hex, amount] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args });
    return call(tokenAddress as string as Hex, concat([data, reference as string as Hex]));
  }
  forgedLog(target: Hex): Step {
    const { requestor, amount } = pick(this.intents);
    const topics = [TRANSFER as Hex, pad(pick(puppets)), pad(requestor as string as Hex)];
    return { target, data: toHex(amount, { size: 32 }), mayFail: true, topics };
  }
  /** Pays a merchant, which sends something back when it is called. */
  takenBack(own: string): readonly Step[] {
    const merchant = pick(requestors.slice(0, 2));
    const terms =
      pick(this.intents.filter(({ requestor }) => (requestor as string) === merchant)) ?? newIntent(merchant);
    return [this.transfer(own, terms), call(merchant, '0x12345678')];
  }
  /** What a merchant that is called sends to a payer. */
  back(from: string, token: string = pick(tokens)): Step {
    const tokenAddress = token as PaymentTerms['tokenAddress'];
    return this.transfer(from, { ...pick(this.intents), tokenAddress, requestor: pick(puppets) as string as Address });
  }
  /** Bytes of payments, and of calls that make them, which say nothing about what the called contract does. */
  noise(own?: string): Hex {
    const ordered = this.orders
      .filter(({ from }) => from === own)
      .map(({ to, amount, reference }) => encodePayment(to as Address, amount, reference as Reference) as Hex);
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const { tokenAddress, requestor, amount, reference } = pick(this.intents);
      const data = encodePayment(requestor, amount, reference) as Hex;
      return chance(0.5)
        ? concat(['0xb61d27f6', encodeAbiParameters(EXECUTE, [tokenAddress as string as Hex, 0n, data])])
        : concat(['0x12345678', data]);
    });
    return concat([...parts, ...ordered]);
  }
}
const EXECUTE = [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }] as const;
const call = (target: Hex, data: Hex): Step => ({ target, data, mayFail: chance(0.9), topics: [] });
const must = (step: Step): Step => ({ ...step, mayFail: false });

const send = (transaction: { readonly from: string; readonly to: string; readonly data: Hex }): Promise<string> =>
  base.anvil.rpc<string>('eth_sendTransaction', { ...transaction, gas: GAS });
const bundler = (): string => base.payers[5]?.address ?? '';
const learn = (puppet: Hex, steps: readonly Step[]): Promise<string> =>
  send({
    from: bundler(),
    to: puppet,
    data: learnOf(steps),
  });
const batchedOf = (steps: readonly Step[]): Hex => batchOf(steps.map(({ target: to, data }) => ({ to, data })));
const executed = (
  account: Hex,
  steps: readonly Step[],
  mode: Hex = chance(0.5) ? MODES.tryBatch : MODES.batch,
): Promise<string> => send({ from: account, to: account, data: executeOf(mode, batchedOf(steps)) });
async function bundled(round: Round, all: readonly (readonly [SmartWallet, readonly Step[]])[]): Promise<string> {
  const operations = await Promise.all(
    all.map(async ([wallet, steps]) =>
      wallet.operation(wallet.calldataOf(steps.map(({ target: to, data }) => ({ to, data })))),
    ),
  );
  const bundle = bundleOf('0.7', operations, bundler());
  return send({
    from: bundler(),
    to: ENTRY_POINTS['0.7'].address,
    data: chance(0.5) ? bundle : concat([bundle, round.noise()]),
  });
}

/** Makes a round of transactions. @returns their hashes, and the payments among them that must count */
async function play(
  round: Round,
): Promise<{ readonly hashes: readonly string[]; readonly honest: ReadonlyMap<string, Order> }> {
  const honest = new Map<string, Order>();
  const [returned, payer, relay, puller, ...others] = puppets as readonly [Hex, Hex, Hex, Hex, ...Hex[]];
  const [first, second, third] = delegated as readonly [Hex, Hex, Hex];
  const plain = (): PaymentTerms => newIntent(pick(requestors.slice(2)));
  const paying = (order: Order | undefined, hash: string): string => {
    if (order !== undefined) honest.set(hash, order);
    return hash;
  };
  const last = (): Order | undefined => round.orders.at(-1);

  await learn(payer, [must(round.transfer(payer, plain()))]);
  const byPuppet = last();
  await learn(relay, [must(await round.authorized(plain()))]);
  const byAuthorization = last();
  await learn(returned, round.takenBack(returned));
  for (const [place, puppet] of others.entries()) await learn(puppet, await round.script(puppet, place + 4));
  const pulled = pick(round.intents);
  await learn(puller, [must(round.pull(pulled, third))]);
  for (const merchant of requestors.slice(0, 2))
    await learn(merchant, chance(0.5) ? tokens.map((token) => round.back(merchant, token)) : []);
  await base.anvil.mine();

  const hashes: string[] = [];
  // A wallet's wrapper has what it is to pay in its calldata: without it no upstream is asked for a trace.
  const trigger = (puppet: Hex): Promise<string> => {
    const isNamed = chance(0.8) || puppet === payer || puppet === returned;
    return send({ from: bundler(), to: puppet, data: round.noise(isNamed ? puppet : undefined) });
  };
  hashes.push(paying(byPuppet, await trigger(payer)), paying(byAuthorization, await trigger(relay)));
  for (const puppet of [returned, ...others]) hashes.push(await trigger(puppet));
  await base.anvil.mine(2);

  const [one, other] = wallets as readonly [SmartWallet, SmartWallet];
  const byDelegated = must(round.transfer(first, plain()));
  hashes.push(paying(last(), await executed(first, [byDelegated])));
  hashes.push(await executed(second, [round.anyTransfer(second), round.anyTransfer(second), call(pick(others), '0x')]));
  // A payment that is undone, and a pull of as much: nothing was ordered.
  const { tokenAddress: token, ...undone } = pulled;
  round.orders.push({ from: third, token, to: undone.requestor, amount: undone.amount, reference: undone.reference });
  const payment = call(token as string as Hex, encodePayment(undone.requestor, undone.amount, undone.reference) as Hex);
  const inner = call(third, executeOf(MODES.batch, batchedOf([payment, call(failing, '0x')])));
  const both = chance(0.5) ? [inner, call(puller, '0x')] : [call(puller, '0x'), inner];
  hashes.push(await executed(third, both, MODES.tryBatch));
  const byWallet = must(round.transfer(one.address, plain()));
  const paid = last();
  const more = [round.anyTransfer(other.address), ...(chance(0.5) ? [call(pick(others), round.noise())] : [])];
  hashes.push(
    paying(
      paid,
      await bundled(round, [
        [one, [byWallet]],
        [other, more],
      ]),
    ),
  );
  const from = base.payers[0]?.address ?? '';
  const { target, data } = round.transfer(from, plain());
  hashes.push(paying(last(), await send({ from, to: target, data })));
  await base.anvil.mine(2);
  return { hashes, honest };
}

/** What is observed until nothing waits any more, or for some steps where nothing explains it. */
async function observe({ watcher, isWhole }: View): Promise<readonly Landed[]> {
  const found = new Map<string, Landed>();
  for (let steps = 0; steps < (isWhole ? 40 : 6); steps += 1) {
    const step = await watcher.stepOnce();
    for (const one of step.observations) {
      if (one.type !== 'landed' || one.data.level !== 'confirmed') continue;
      const { hash, transfer } = one.data;
      const { from, to, amount, reference, index, tokenAddress: token } = transfer;
      // What nothing explains for a minute is reported, as what it is.
      if (isWhole || reference !== NO_REFERENCE)
        found.set(`${hash} ${index} ${one.intentId}`, { hash, index, from, to, amount, reference, token });
    }
    base.clock.pass(2_000);
    const { seen } = JSON.parse(watcher.cursor ?? '') as { readonly seen: readonly { readonly reported?: boolean }[] };
    if (steps > 1 && step.setAside === 0 && seen.every(({ reported }) => reported === true)) return [...found.values()];
  }
  if (isWhole) throw new Error('something waits to be judged for ever');
  return [...found.values()];
}

/** What the tokens were told with a reference, or by an authorization, and was not undone. */
async function ordersIn(hash: string): Promise<readonly Order[]> {
  const trace = await base.anvil.rpc<Frame>('debug_traceTransaction', hash, { tracer: 'callTracer' });
  return callsIn(trace).flatMap(({ type, from, to: called, input }): readonly Order[] => {
    const token = tokens.find((one) => one.toLowerCase() === called?.toLowerCase());
    if (type !== 'CALL' || token === undefined) return [];
    const { functionName, args = [] } = decodeFunctionData({ abi: tokenAbi, data: input });
    if (functionName === 'transferWithAuthorization') {
      const [payer, to, amount, , , reference] = args as [Hex, Hex, bigint, bigint, bigint, Hex];
      return [{ from: payer, token, to, amount, reference }];
    }
    const reference = `0x${input.slice(REFERENCE, REFERENCE + 64)}`;
    if (functionName !== 'transfer' || reference.length !== 66) return [];
    const [to, amount] = args as [Hex, bigint];
    return [{ from: getAddress(from), token, to, amount, reference }];
  });
}
/** Where the hex of a transfer's calldata has it. */
const REFERENCE = 2 + 2 * (4 + 32 + 32);
const nameOf = ({ from, token, to, reference }: Omit<Order, 'amount'>): string => `${token} ${from} ${to} ${reference}`;

interface Raw {
  readonly status: Hex;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}
/** What each requestor has gained of each token in a transaction, by the tokens' own logs. */
async function gainsIn(hash: string): Promise<ReadonlyMap<string, bigint>> {
  const gains = new Map<string, bigint>();
  const add = (key: string, amount: bigint): void => void gains.set(key, (gains.get(key) ?? 0n) + amount);
  const { logs } = await base.anvil.rpc<Raw>('eth_getTransactionReceipt', hash);
  for (const { address, topics, data } of logs) {
    const [event, from, to] = topics;
    const token = tokens.find((one) => one.toLowerCase() === address.toLowerCase());
    if (event !== TRANSFER || token === undefined || from === undefined || to === undefined) continue;
    add(`${token} ${getAddress(`0x${to.slice(26)}`)}`, BigInt(data));
    add(`${token} ${getAddress(`0x${from.slice(26)}`)}`, -BigInt(data));
  }
  return gains;
}
const balances = (): Promise<readonly bigint[]> =>
  Promise.all(
    tokens.flatMap((token) =>
      requestors.map(async (requestor) => {
        const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [requestor] });
        return BigInt(await base.anvil.rpc<Hex>('eth_call', { to: token, data }, 'latest'));
      }),
    ),
  );

/** What a transaction has moved, and what its tokens were told. */
interface Of {
  readonly gained: ReadonlyMap<string, bigint>;
  readonly ordered: ReadonlyMap<string, readonly Order[]>;
}

/** @throws Error where more counts than came, or than its account has ordered */
function judge(
  name: string,
  landed: readonly Landed[],
  { byCalldata }: View,
  told: ReadonlyMap<string, readonly Order[]>,
  of: Of | undefined,
): void {
  if (of === undefined) throw new Error(`${name}: is not of this round`);
  for (const [key, all] of Map.groupBy(landed, ({ token, to }) => `${token} ${to}`)) {
    const sum = all.reduce((units, { amount }) => units + amount, 0n);
    const most = of.gained.get(key) ?? 0n;
    if (sum > (most > 0n ? most : 0n)) throw new Error(`${name}: ${sum} count, ${most} came`);
  }
  for (const [key, all] of Map.groupBy(landed, nameOf)) {
    const ordered = (byCalldata ? told : of.ordered).get(key) ?? [];
    const most = ordered.reduce((units, { amount }) => (amount > units ? amount : units), 0n);
    const isTooMuch = all.some(({ amount }) => amount > most) || (!byCalldata && all.length > ordered.length);
    if (isTooMuch) throw new Error(`${name}: ${all.length} count of ${key}, and ${ordered.length} were ordered`);
  }
}

describe('random transactions on Base', () => {
  it(
    'pay an intent what its recipient has gained at most, and only where the account that paid has ordered it',
    async () => {
      let [made, counted, honestly] = [0, 0, 0];
      while (made < TRANSACTIONS) {
        const round = new Round();
        const before = await balances();
        const { hashes, honest } = await play(round);
        const gains = new Map<string, bigint>();
        const ofHash = new Map<string, Of>();
        for (const hash of hashes) {
          const gained = await gainsIn(hash);
          for (const [key, amount] of gained) gains.set(key, (gains.get(key) ?? 0n) + amount);
          ofHash.set(hash, { gained, ordered: Map.groupBy(await ordersIn(hash), nameOf) });
        }
        const told = Map.groupBy(round.orders, nameOf);
        for (const view of views) {
          const landed = await observe(view);
          for (const [hash, ofOne] of Map.groupBy(landed, (one) => one.hash))
            judge(`${hash} of seed ${SEED} by ${view.name}`, ofOne, view, told, ofHash.get(hash));
          for (const [hash, order] of honest) {
            const own = landed.find((one) => one.hash === hash && one.reference === order.reference);
            // What a contract does is in no calldata.
            if (view.byCalldata && puppets.includes(order.from as Hex)) continue;
            expect({ hash, view: view.name, ...own }).toMatchObject({ hash, view: view.name, ...order });
          }
          for (const terms of [...view.watcher.watched.all()]) view.watcher.watched.drop(terms);
          counted += landed.length;
        }
        // The logs say the truth.
        const after = await balances();
        const changes = tokens.flatMap((token) => requestors.map((one) => gains.get(`${token} ${one}`) ?? 0n));
        expect(after.map((units, place) => units - (before[place] ?? 0n))).toEqual(changes);
        made += hashes.length;
        honestly += honest.size;
      }
      expect(counted).toBeGreaterThan(views.length * honestly);
      process.stdout.write(
        `${made} transactions, ${honestly} of them honest: ${counted} payments counted in three views\n`,
      );
    },
    Math.max(300_000, TRANSACTIONS * 1_000),
  );
});
