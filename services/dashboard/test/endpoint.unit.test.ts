import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import type { Database } from '@pf/database';
import type { Request, Response } from 'express';
import type { DashboardError } from '../src/dashboard-error.ts';
import { admit, serve, type ServingDependencies } from '../src/endpoint.ts';
import { Limits } from '../src/limits.ts';

describe('A request of a session', () => {
  afterEach(() => void jest.useRealTimers());
  const response = { locals: {}, getHeader: () => 'req_1' } as unknown as Response;

  /** @returns a function that makes a request, and whether each of those made so far is being looked up */
  function dashboard() {
    const lookedUp: string[] = [];
    const answers: (() => void)[] = [];
    const dependencies = {
      identity: {
        session: ({ address }: { readonly address: string }) => {
          lookedUp.push(address);
          return new Promise((resolve) => answers.push(() => resolve(null)));
        },
      },
      limits: new Limits({} as Database, 1),
      now: Date.now,
      tokens: { find: (_token: string, address: string) => dependencies.identity.session({ address } as never) },
    } as unknown as ServingDependencies;
    const ask = (ip: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> => {
      const get = (name: string) => headers[name];
      const request = { ip, method: 'GET', headers, get } as unknown as Request;
      return admit(request, response, { access: 'signed-in' }, dependencies).catch((error: unknown) => error);
    };
    return { ask, lookedUp, answers };
  }

  it('is looked up when it is the turn of its address, which takes no turn of another', async () => {
    const { ask, lookedUp, answers } = dashboard();
    const asked = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map((ip) => ask(ip));
    await Promise.resolve();
    expect(lookedUp).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2']);
    answers[0]?.();
    await asked[0];
    expect(lookedUp).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1']);
    for (const answer of answers) answer();
    for (const one of asked) expect(await one).toMatchObject({ code: 'session.required' });
  });

  it.each([
    ['session', 'cookie', 'pf.session_token='],
    ['personal token', 'authorization', 'Bearer pft_'],
  ])('is looked up before those of another %s of its address that came earlier', async (_kind, header, value) => {
    const { ask, lookedUp, answers } = dashboard();
    const flood = Array.from({ length: 300 }, () => ask('192.0.2.1', { [header]: `${value}a` }));
    const own = ask('192.0.2.1', { [header]: `${value}b` });
    await new Promise(setImmediate);
    expect(lookedUp).toHaveLength(2);
    answers[0]?.();
    await new Promise(setImmediate);
    expect(lookedUp).toHaveLength(3);
    answers[2]?.();
    const outcome = own.then((result) =>
      (result as DashboardError).code === 'rate_limit.exceeded' ? 429 : 'looked up',
    );
    expect(await Promise.race([outcome, new Promise(setImmediate)])).toBe('looked up');
    for (let answered = 0; answered < answers.length; answered += 1) {
      answers[answered]?.();
      await new Promise(setImmediate);
    }
    await Promise.all(flood);
  });

  it('is not refused with the others of its page while look-ups take long', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { ask, answers } = dashboard();
    const page = Array.from({ length: 10 }, () => ask('192.0.2.1', { cookie: 'pf.session_token=a' }));
    const results = Promise.all(page);
    for (let answered = 0; answered < page.length; answered += 2) {
      await jest.advanceTimersByTimeAsync(900);
      for (const answer of answers.slice(answered, answered + 2)) answer();
      await new Promise(setImmediate);
    }
    // It waited for none of them: those that were refused have ended.
    for (const answer of answers) answer();
    const refused = (await results).filter((result) => (result as DashboardError).code !== 'session.required');
    expect(refused).toEqual([]);
  });

  it('waits for its turn with the others of its /48', async () => {
    const { ask, lookedUp, answers } = dashboard();
    const asked = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:0:2::1', '2001:db8:1::1'].map((ip) => ask(ip));
    await Promise.resolve();
    expect(lookedUp).toEqual(['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1']);
    for (const answer of answers) answer();
    await asked[0];
    answers.at(-1)?.();
    await Promise.all(asked);
  });

  it('is refused where too many of its address wait already', async () => {
    const { ask, answers } = dashboard();
    const waiting = Array.from({ length: 202 }, () => ask('192.0.2.1'));
    expect(await ask('192.0.2.1')).toMatchObject({ code: 'rate_limit.exceeded' });
    const ended = Promise.all(waiting);
    for (let answered = 0; answered < 202; answered += 1) {
      answers[answered]?.();
      await waiting[answered];
    }
    await ended;
  });
});

describe('A request of anyone', () => {
  /** @returns what serves the ways to sign in, as slowly as it is told to */
  function signInPage() {
    const begun: string[] = [];
    const answers: (() => void)[] = [];
    const limits = new Limits({} as Database, 1);
    const serving = serve(
      DASHBOARD_OPERATIONS.getSignInOptions,
      ({ client }) => {
        begun.push(client.address ?? '');
        return new Promise((resolve) => answers.push(() => resolve({ oidc: null })));
      },
      { limits } as unknown as ServingDependencies,
    );
    const ask = (ip: string): Promise<unknown> => {
      const request = { ip, method: 'GET', headers: {}, get: () => undefined } as unknown as Request;
      const response = { locals: {}, getHeader: () => 'req_1', writeHead: () => ({ end: () => undefined }) };
      return serving(request, response as unknown as Response).catch((error: unknown) => error);
    };
    const answerAll = async (asked: readonly Promise<unknown>[]): Promise<void> => {
      for (let answered = 0; answered < asked.length; answered += 1) {
        answers[answered]?.();
        await new Promise(setImmediate);
      }
      await Promise.all(asked);
    };
    return { ask, answerAll, begun, limits };
  }

  it('gets its response in the turn of its address, which takes no turn of another or of a session', async () => {
    const { ask, answerAll, begun, limits } = signInPage();
    const asked = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(ask);
    await new Promise(setImmediate);
    expect(begun).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2']);
    expect(await limits.inTurn('lookup', '192.0.2.1', () => Promise.resolve('looked up'))).toBe('looked up');
    await answerAll(asked);
    expect(begun).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1']);
  });

  it('waits for its turn with the others of its /48', async () => {
    const { ask, answerAll, begun } = signInPage();
    const asked = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:0:2::1', '2001:db8:1::1'].map(ask);
    await new Promise(setImmediate);
    expect(begun).toEqual(['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1']);
    await answerAll(asked);
  });

  it('is refused where too many of its address wait already', async () => {
    const { ask, answerAll } = signInPage();
    const waiting = Array.from({ length: 202 }, () => ask('192.0.2.1'));
    await new Promise(setImmediate);
    expect(await ask('192.0.2.1')).toMatchObject({ code: 'rate_limit.exceeded' });
    await answerAll(waiting);
  });
});
