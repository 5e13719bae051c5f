import { type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { forwarded, memo, tokenInstructions } from '../token-instructions.ts';
import {
  type Account,
  FAKE,
  first,
  forwarder,
  issuer,
  multisig,
  other,
  payer,
  programOf,
  PYUSD,
  second,
  spaceOf,
  TOKEN,
  USDC,
  vault,
  type World,
} from './world.ts';

type Random = (below: number) => number;
const RENT = 1_000_000_000;
const FEE_PART = 100n;

/** Puts a transaction together that the token programs will most likely execute, whatever sense it makes. */
export class Script {
  readonly instructions: TransactionInstruction[] = [];
  readonly #world: World;
  readonly #random: Random;
  readonly #references: readonly PublicKey[];

  constructor(world: World, random: Random, references: readonly PublicKey[]) {
    this.#world = world;
    this.#random = random;
    this.#references = references;
  }

  #pick<T>(all: readonly T[]): T | undefined {
    return all[this.#random(Math.max(1, all.length))];
  }
  /** None, one or two. */
  #named(): readonly PublicKey[] {
    const count = [0, 1, 1, 1, 1, 2][this.#random(6)] ?? 1;
    return Array.from({ length: count }, () => this.#pick(this.#references) ?? payer);
  }
  #accounts(where: (account: Account) => boolean): readonly Account[] {
    return this.#world.accounts.filter(where);
  }

  /** A list of anything, or one of the known forms of fraud with anything around it. */
  anything(): void {
    const steps = 1 + this.#random(6);
    const fraud = this.#random(3) === 0 ? this.#random(steps) : -1;
    for (let step = 0; step < steps; step += 1)
      if (step === fraud) this.#round();
      else this.#step();
  }

  /**
   * Payments that go to requestors and stay there.
   * @returns how much of it has arrived for intents, without what the token withholds, by `owner mint`
   */
  honest(): ReadonlyMap<string, bigint> {
    const paid = new Map<string, bigint>();
    const count = 1 + this.#random(3);
    for (let n = 0; n < count; n += 1) {
      const mint = this.#random(2) === 0 ? USDC : PYUSD;
      const owner = this.#random(2) === 0 ? first : second;
      const from = this.#accounts((one) => one.owner === payer && one.mint === mint && !one.isScratch)[0];
      const to = this.#accounts((one) => one.owner === owner && one.mint === mint && !one.isScratch)[0];
      const reference = this.#pick(this.#references);
      if (from === undefined || to === undefined || reference === undefined) continue;
      const units = BigInt(1 + this.#random(1_000));
      this.#transfer(from, to, units, payer, [reference], this.#random(3) === 0);
      const key = `${owner.toBase58()} ${mint.toBase58()}`;
      paid.set(key, (paid.get(key) ?? 0n) + units - this.#feeOf(mint, units));
    }
    return paid;
  }

  #step(): void {
    switch (this.#random(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return this.#move(this.#accounts((one) => one.amount > 0n && one.mint !== null));
      case 4:
        return this.#move(this.#accounts((one) => one.isScratch && one.amount > 0n && one.mint !== null));
      case 5:
        return this.#give();
      case 6:
        return this.#close();
      case 7:
        return this.#create();
      case 8:
        return this.#mint();
      case 9:
        return this.#burn();
      case 10:
        return this.#approve();
      case 11:
        return this.#freeze();
      case 12:
        return this.#batch();
      default:
        return void this.instructions.push(memo(this.#pick(this.#references)?.toBase58() ?? ''));
    }
  }

  /** Fills an account that is no requestor's, empties it in one way or another, and gives it away. */
  #round(): void {
    const account = this.#accounts((one) => one.isScratch && one.mint !== null && !isRequestor(one.owner))[0];
    if (account === undefined || account.mint === null) return this.#create();
    const { mint } = account;
    const purse = this.#accounts((one) => one.owner === payer && one.mint === mint && !one.isScratch)[0];
    const reference = this.#pick(this.#references);
    if (purse === undefined || reference === undefined) return;
    const victim = this.#random(2) === 0 ? first : second;
    const times = 1 + this.#random(2);
    for (let n = 0; n < times; n += 1) {
      const units = BigInt(1 + this.#random(500));
      if (purse.amount < units) break;
      this.#transfer(purse, account, units, payer, [reference], false);
      if (account.amount === 0n || this.#random(6) === 0) continue;
      if (this.#random(2) === 0) this.#burnAll(account);
      else this.#transfer(account, purse, account.amount, account.owner, [], this.#random(4) === 0);
    }
    if (this.#random(2) === 0) this.#change(account);
    this.#give(account, victim);
    // Something else comes to whoever is robbed, or to the account itself.
    const gainers = this.#accounts((one) => one === account || (one.owner === victim && one.mint === account.mint));
    if (this.#random(3) > 0) this.#mint(this.#pick(gainers));
  }

  #signs(owner: PublicKey): Parameters<ReturnType<typeof tokenInstructions>['transfer']>[3] {
    return owner === multisig ? { multisig, signers: [payer, other] } : owner;
  }

  #move(sources: readonly Account[]): void {
    const from = this.#pick(sources.filter(({ frozen }) => !frozen));
    if (from === undefined) return;
    const to = this.#pick(this.#accounts((one) => one.mint === from.mint && !one.frozen));
    if (to === undefined) return;
    const isDelegated = from.delegate !== null && from.delegated > 0n && this.#random(2) === 0;
    const most = isDelegated && from.delegated < from.amount ? from.delegated : from.amount;
    const units = this.#random(8) === 0 ? most : BigInt(this.#random(Number(most))) + 1n;
    const by = isDelegated ? (from.delegate ?? from.owner) : from.owner;
    this.#transfer(from, to, units > most ? most : units, by, this.#named(), this.#random(4) === 0);
    if (isDelegated && from !== to) from.delegated -= units > most ? most : units;
  }

  #transfer(
    from: Account,
    to: Account,
    units: bigint,
    by: PublicKey,
    references: readonly PublicKey[],
    isInner: boolean,
  ): void {
    const { mint } = from;
    if (mint === null) return;
    const make = tokenInstructions(programOf(mint));
    const fee = this.#feeOf(mint, units);
    const form = this.#random(4);
    const instruction =
      mint === PYUSD
        ? form === 0 && by !== multisig
          ? make.withFee(from.address, to.address, mint, units, fee, by, references)
          : make.checked(from.address, to.address, mint, units, this.#signs(by), references)
        : form === 0
          ? make.transfer(from.address, to.address, units, this.#signs(by), references)
          : make.checked(
              from.address,
              to.address,
              mint,
              units,
              this.#signs(by),
              references,
              form === 1 ? Buffer.of(0) : Buffer.of(),
            );
    this.instructions.push(isInner || by === vault ? forwarded(forwarder, instruction) : instruction);
    if (from === to) return;
    from.amount -= units;
    to.amount += units - fee;
  }

  #feeOf(mint: PublicKey, units: bigint): bigint {
    return mint === PYUSD && this.#world.hasFee ? (units + FEE_PART - 1n) / FEE_PART : 0n;
  }

  #give(
    account = this.#pick(this.#accounts((one) => one.isScratch && one.mint !== null && !isRequestor(one.owner))),
    to = this.#pick([payer, other, first, second]),
  ): void {
    if (account === undefined || account.mint === null || to === undefined || account.frozen) return;
    if (account.owner === multisig) return;
    const make = tokenInstructions(programOf(account.mint));
    const instruction = make.setAuthority(account.address, 2, to, account.owner);
    this.instructions.push(account.owner === vault ? forwarded(forwarder, instruction) : instruction);
    account.owner = to;
    account.delegate = null;
    account.delegated = 0n;
  }

  #close(account = this.#pick(this.#accounts((one) => one.isScratch && one.mint !== null && one.amount === 0n))): void {
    if (account === undefined || account.mint === null || account.amount > 0n || account.frozen) return;
    if (account.owner === multisig || (account.mint === PYUSD && this.#world.hasFee)) return;
    const make = tokenInstructions(programOf(account.mint));
    const instruction = make.close(account.address, payer, account.owner);
    this.instructions.push(account.owner === vault ? forwarded(forwarder, instruction) : instruction);
    account.mint = null;
    account.delegate = null;
    account.delegated = 0n;
  }

  #create(account = this.#pick(this.#accounts((one) => one.isScratch && one.mint === null))): void {
    const mint = this.#pick([USDC, PYUSD, FAKE]);
    const owner = this.#pick([payer, other, first, second]);
    if (account === undefined || account.mint !== null || mint === undefined || owner === undefined) return;
    const make = tokenInstructions(programOf(mint));
    this.instructions.push(
      make.create(payer, account.address, spaceOf(mint), RENT),
      make.initialize(account.address, mint, owner),
    );
    account.mint = mint;
    account.owner = owner;
    account.amount = 0n;
  }

  /** Another token in the same account. */
  #change(account: Account): void {
    this.#close(account);
    this.#create(account);
  }

  #mint(to = this.#pick(this.#accounts((one) => one.mint !== null && !one.frozen))): void {
    if (to === undefined || to.frozen || to.mint === null) return;
    const units = BigInt(1 + this.#random(500));
    const by = to.mint === FAKE ? payer : issuer;
    this.instructions.push(tokenInstructions(programOf(to.mint)).mintTo(to.mint, to.address, units, by));
    to.amount += units;
  }

  #burn(): void {
    const from = this.#pick(this.#accounts((one) => one.mint !== null && one.amount > 0n && !one.frozen));
    if (from === undefined || from.owner === vault || from.owner === multisig) return;
    this.#burnAll(from, BigInt(1 + this.#random(Number(from.amount))));
  }
  #burnAll(from: Account, units = from.amount): void {
    if (from.mint === null || units === 0n || from.owner === vault || from.owner === multisig) return;
    this.instructions.push(tokenInstructions(programOf(from.mint)).burn(from.address, from.mint, units, from.owner));
    from.amount -= units;
  }

  #approve(): void {
    const account = this.#pick(this.#accounts((one) => one.mint !== null && !one.frozen));
    if (account === undefined || account.mint === null || account.owner === vault || account.owner === multisig) return;
    const delegate = this.#random(2) === 0 ? other : payer;
    const units = BigInt(1 + this.#random(2_000));
    this.instructions.push(
      tokenInstructions(programOf(account.mint)).approve(account.address, delegate, units, account.owner),
    );
    account.delegate = delegate;
    account.delegated = units;
  }

  #freeze(): void {
    const account = this.#pick(this.#accounts((one) => one.mint !== null && one.mint !== FAKE && one.isScratch));
    if (account === undefined || account.mint === null) return;
    const make = tokenInstructions(programOf(account.mint));
    this.instructions.push(
      account.frozen
        ? make.thaw(account.address, account.mint, issuer)
        : make.freeze(account.address, account.mint, issuer),
    );
    account.frozen = !account.frozen;
  }

  /** Transfers of which the chain records no inner instructions. */
  #batch(): void {
    const whole = this.instructions.length;
    const count = 1 + this.#random(2);
    for (let n = 0; n < count; n += 1)
      this.#move(
        this.#accounts(({ mint, owner, amount }) => mint !== null && mint !== PYUSD && owner !== vault && amount > 0n),
      );
    const parts = this.instructions.splice(whole);
    const plain = parts.filter(({ programId }) => programId.equals(TOKEN));
    this.instructions.push(
      ...(plain.length === parts.length && plain.length > 0 ? [tokenInstructions().batch(plain)] : parts),
    );
  }
}

const isRequestor = (owner: PublicKey): boolean => owner === first || owner === second;
