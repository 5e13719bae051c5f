import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@pf/contracts';
import type { Deposit, Landing, PaymentIntent } from '@pf/domain';
import type { StandingTransfer } from '@pf/simulation/chain';
import { checkBooks } from '../../src/model/books.ts';

const SHOP = '0xshop';
const standing = (hash: string, amount: bigint) => ({ hash, to: SHOP, amount }) as unknown as StandingTransfer;
const landing = (hash: string, amount: bigint): Landing =>
  ({ hash, transfer: { amount, index: '0' } }) as unknown as Landing;
const intent = (id: string, settlement: Landing | null, extraPayments: readonly Landing[] = []): PaymentIntent =>
  ({
    id,
    requestor: SHOP,
    status: settlement === null ? 'created' : 'finalized',
    settlement: settlement && { ...settlement, lost: false },
    extraPayments,
  }) as unknown as PaymentIntent;
const deposit = (id: string, hash: string, amount: bigint, more: Partial<Deposit> = {}): Deposit =>
  ({ id, level: 'finalized', state: 'open', arrival: { hash, to: SHOP, amount }, ...more }) as unknown as Deposit;
const told = (type: string, intentId: string, of: Landing): EventEnvelope =>
  ({ type, intentId, data: { landing: of } }) as unknown as EventEnvelope;

interface Said {
  readonly intents?: readonly PaymentIntent[];
  readonly deposits?: readonly Deposit[];
  readonly events?: readonly EventEnvelope[];
}
const check =
  ({ intents = [], deposits = [], events = [] }: Said, ...transfers: readonly StandingTransfer[]) =>
  (): void =>
    checkBooks(
      { intents, deposits: new Map(deposits.map((one) => [one.id, one])), events },
      transfers,
      new Set([SHOP]),
    );

describe('the books of the simulator', () => {
  it('have payments, extra and mismatched ones, and deposits that pay nothing', () => {
    const paid = intent('pi_1', landing('a', 5n), [landing('b', 5n)]);
    const events = [told('intent.mismatched_payment', 'pi_1', landing('c', 4n))];
    const all = [standing('a', 5n), standing('b', 5n), standing('c', 4n), standing('d', 7n)];
    expect(check({ intents: [paid], events, deposits: [deposit('dep_1', 'd', 7n)] }, ...all)).not.toThrow();
  });

  it('lack money that arrived and is nowhere', () => {
    expect(check({}, standing('a', 5n))).toThrow('5 of a arrived, and the books have 0 of it');
  });

  it('lack a base unit', () => {
    expect(check({ intents: [intent('pi_1', landing('a', 4n))] }, standing('a', 5n))).toThrow('have 4 of it');
  });

  it('have a transfer twice that pays two intents, or one that is an open deposit as well', () => {
    const one = intent('pi_1', landing('a', 5n));
    expect(check({ intents: [one, intent('pi_2', landing('a', 5n))] }, standing('a', 5n))).toThrow('pi_1, pi_2');
    expect(check({ intents: [one], deposits: [deposit('dep_1', 'a', 5n)] }, standing('a', 5n))).toThrow('have 10');
  });

  it('take an assigned deposit for the payment of its intent alone', () => {
    const assigned = deposit('dep_1', 'a', 5n, { state: 'assigned' });
    expect(
      check({ intents: [intent('pi_1', landing('a', 5n))], deposits: [assigned] }, standing('a', 5n)),
    ).not.toThrow();
    expect(check({ deposits: [assigned] }, standing('a', 5n))).toThrow('have 0 of it');
  });

  it('invent nothing that is not on the chain', () => {
    expect(check({ deposits: [deposit('dep_1', 'a', 5n)] })).toThrow('dep_1 has 5 of a, which is not on the chain');
    expect(check({ deposits: [deposit('dep_1', 'a', 5n, { level: 'lost' })] })).not.toThrow();
  });

  it('settle an intent once', () => {
    const twice = intent('pi_1', landing('a', 5n), [landing('a', 5n)]);
    expect(check({ intents: [twice] }, standing('a', 5n))).toThrow('as its payment and as an extra one');
  });

  it('leave out a report that was withdrawn', () => {
    const events = ['intent.mismatched_payment', 'intent.mismatch_withdrawn'].map((type) =>
      told(type, 'pi_1', landing('a', 5n)),
    );
    expect(check({ events, intents: [intent('pi_1', landing('a', 5n))] }, standing('a', 5n))).not.toThrow();
  });
});
