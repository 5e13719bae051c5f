import { describe, expect, it } from '@jest/globals';
import type { Address, Reference } from '@pf/domain';
import { leastCpu } from '@pf/testing/quiet-core';
import { concat, encodeFunctionData, erc20Abi, type Hex, pad } from 'viem';
import { argumentsOf, encodePayment, referencesBehind } from '../../../src/base/calldata.ts';
import type { CallFrame } from '../../../src/base/nested/call-trace.ts';
import {
  NOT_ORDERED,
  referencesByCalls,
  referencesByTrace,
  type References,
} from '../../../src/base/nested/references.ts';
import { getTokenCalls, type TokenCall } from '../../../src/base/nested/token-calls.ts';
import { AUTHORIZATION_USED } from '../../../src/base/nested/authorized.ts';
import { TRANSFER } from '../../../src/base/observe/landings.ts';
import { terms } from '../payments.ts';
import {
  ACCOUNT,
  bufferOf,
  type Event,
  HASH,
  logAt,
  payment,
  STRANGER,
  topic,
  transferred,
  uint,
  USDC,
} from './written.ts';

const other = `0x${'0e'.repeat(32)}` as Reference;

describe('calldata that anyone can write', () => {
  it('is searched for what follows the bytes of a transfer, wherever they are', () => {
    const wanted = argumentsOf(terms.requestor, terms.amount);
    const found = (hex: string): unknown => [...(referencesBehind(bufferOf(hex), new Set([wanted])).get(wanted) ?? [])];
    expect(found(concat(['0xabcd', payment(), payment(other), '0x99']))).toEqual([terms.reference, other]);
    expect(found(payment().slice(0, -2))).toEqual([]);
    expect(found('0x')).toEqual([]);
    const unwanted = encodePayment(terms.requestor, terms.amount + 1n, other) as Hex;
    expect(found(concat([unwanted, payment()]))).toEqual([terms.reference]);
  });

  it('is searched once, however often it repeats the bytes, and to its end', () => {
    const wanted = argumentsOf(terms.requestor, terms.amount);
    const repeated = concat(
      Array.from({ length: 1_300 }, (_, number) => payment(uint(BigInt(number)) as string as Reference)),
    );
    const all = new Set(Array.from({ length: 1_000 }, (_, number) => argumentsOf(terms.requestor, BigInt(number))));
    expect(referencesBehind(bufferOf(repeated), all.add(wanted)).get(wanted)?.size).toBe(1_300);
    expect(leastCpu(() => referencesBehind(bufferOf(repeated), all))).toBeLessThan(100);
    const beginnings = Buffer.from('a9059cbb'.repeat(32_768), 'hex');
    expect(leastCpu(() => referencesBehind(beginnings, all))).toBeLessThan(100);
  });
});

describe('the reference of a transfer in a trace', () => {
  const log = (frame: Partial<CallFrame['logs'][number]> = {}): CallFrame['logs'][number] => ({
    address: USDC.toLowerCase(),
    topics: [TRANSFER, topic(ACCOUNT), topic(terms.requestor)],
    data: uint(terms.amount),
    position: 0,
    ...frame,
  });
  const call = (frame: Partial<CallFrame>): CallFrame => ({
    type: 'CALL',
    from: ACCOUNT.toLowerCase(),
    to: USDC.toLowerCase(),
    input: payment(),
    error: null,
    calls: [],
    logs: [],
    ...frame,
  });
  const within = (...calls: readonly CallFrame[]): CallFrame =>
    call({ from: STRANGER.toLowerCase(), to: ACCOUNT.toLowerCase(), input: '0x12345678', calls });
  const traced = (trace: CallFrame, events: readonly Event[]): References | null =>
    referencesByTrace(
      trace,
      events.map((event, index) => event(index)),
    );

  it('is in the call of the token, also when the token borrows its code', () => {
    expect(traced(within(call({ logs: [log()] })), [transferred()])).toEqual(new Map([[0n, terms.reference]]));
    const proxied = call({
      calls: [call({ type: 'DELEGATECALL', from: USDC.toLowerCase(), to: STRANGER.toLowerCase(), logs: [log()] })],
    });
    expect(traced(within(proxied), [transferred()])).toEqual(new Map([[0n, terms.reference]]));
  });

  it('is not ordered when another account, another call or a second transfer of one call made it', () => {
    const none = new Map([[0n, NOT_ORDERED]]);
    expect(traced(within(call({ from: STRANGER.toLowerCase(), logs: [log()] })), [transferred()])).toEqual(none);
    expect(traced(within(call({ input: '0x23b872dd', logs: [log()] })), [transferred()])).toEqual(none);
    expect(traced(within(call({ type: 'STATICCALL', logs: [log()] })), [transferred()])).toEqual(none);
    expect(traced(within(call({ to: STRANGER.toLowerCase(), logs: [log()] })), [transferred()])).toEqual(none);
    expect(traced(within(call({ logs: [log(), log()] })), [transferred(), transferred()])).toEqual(
      new Map([
        [0n, terms.reference],
        [1n, NOT_ORDERED],
      ]),
    );
  });

  it('ignores calls that failed, and follows the order of calls and logs', () => {
    const failed = call({ error: 'execution reverted', logs: [log()] });
    const second = call({ input: payment(other), logs: [log()] });
    expect(traced(within(failed, second), [transferred()])).toEqual(new Map([[0n, other]]));
    const own = log({ address: ACCOUNT.toLowerCase(), topics: [pad('0x01')], data: '0x', position: 1 });
    const trace = { ...within(call({ logs: [log()] }), second), logs: [own] };
    const marked: Event = (index) => logAt(index, ACCOUNT, [pad('0x01')], '0x');
    expect(traced(trace, [transferred(), marked, transferred()])).toEqual(
      new Map([
        [0n, terms.reference],
        [2n, other],
      ]),
    );
  });

  it('is not known from a trace of other logs', () => {
    const trace = within(call({ logs: [log()] }));
    expect(traced(trace, [])).toBeNull();
    expect(traced(trace, [transferred(), transferred()])).toBeNull();
    expect(traced(trace, [transferred(STRANGER)])).toBeNull();
    expect(traced(trace, [transferred(ACCOUNT, STRANGER)])).toBeNull();
  });
});

describe('the reference of a transfer among the calls of the tokens, which may have been undone', () => {
  const call = (input: Hex, from = ACCOUNT, to = USDC): TokenCall => ({ hash: HASH, from, to, input });
  const pull = (from: Address, amount = terms.amount): Hex =>
    encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [from as string as Hex, terms.requestor as string as Hex, amount],
    });
  const explained = (calls: readonly TokenCall[], ...events: readonly Event[]): References =>
    referencesByCalls(
      calls,
      events.map((event, index) => event(index)),
    );
  const paid = new Map([[0n, terms.reference]]);
  const unknown = new Map();

  it('comes from the only call that can have made it', () => {
    expect(explained([call(payment())], transferred())).toEqual(paid);
    const plain = payment().slice(0, 2 + 2 * 68) as Hex;
    expect(explained([call(plain)], transferred())).toEqual(new Map([[0n, null]]));
    expect(explained([call(pull(ACCOUNT), STRANGER)], transferred())).toEqual(new Map([[0n, NOT_ORDERED]]));
  });

  it('is not known where a pull or a call with another reference can have made it too', () => {
    for (const another of [call(pull(ACCOUNT), STRANGER), call(payment(other))])
      for (const calls of [
        [call(payment()), another],
        [another, call(payment())],
      ])
        expect(explained(calls, transferred())).toEqual(unknown);
  });

  it('is known beside calls that cannot have made it', () => {
    const others = [
      call(payment(other), STRANGER),
      call(payment(other), ACCOUNT, STRANGER),
      call(encodePayment(terms.requestor, terms.amount + 1n, other) as Hex),
      call(pull(STRANGER), STRANGER),
      call(pull(ACCOUNT, terms.amount - 1n), STRANGER),
      call('0x70a08231', STRANGER),
    ];
    expect(explained([...others, call(payment())], transferred())).toEqual(paid);
  });

  it('is not known where fewer calls are shown than there are transfers', () => {
    expect(explained([], transferred())).toEqual(unknown);
    expect(explained([call(payment())], transferred(), transferred())).toEqual(unknown);
    // One of three was undone: which does not matter.
    expect(explained([call(payment()), call(payment()), call(payment())], transferred(), transferred())).toEqual(
      new Map([
        [0n, terms.reference],
        [1n, terms.reference],
      ]),
    );
  });

  it('is not taken from an authorization, whose transfer no call of the account has made', () => {
    const used: Event = (index) => logAt(index, USDC, [AUTHORIZATION_USED, topic(ACCOUNT), other], '0x');
    expect(explained([call(payment())], used, transferred())).toEqual(unknown);
    expect(explained([call(payment())], used, transferred(), transferred())).toEqual(new Map([[2n, terms.reference]]));
  });

  it('is read from calls that have not failed by themselves, and from none that borrows code or only looks', () => {
    const traced = (changed: object, action: object = {}): unknown => ({
      type: 'call',
      action: { callType: 'call', from: ACCOUNT.toLowerCase(), to: USDC, input: payment(), gas: '0x1', ...action },
      transactionHash: HASH,
      traceAddress: [0],
      ...changed,
    });
    const { parse } = getTokenCalls([USDC], 1n);
    expect(parse([traced({}), { type: 'create', action: {} }])).toEqual([call(payment())]);
    expect(
      parse([
        traced({ error: 'Reverted' }),
        traced({}, { callType: 'delegatecall' }),
        traced({}, { callType: 'staticcall' }),
      ]),
    ).toEqual([]);
    // What cannot be read may be what made the transfer.
    for (const unreadable of [traced({}, { input: 1 }), traced({ type: 'unknown' }), null])
      expect(() => parse([unreadable])).toThrow();
  });
});
