import { describe, expect, it } from '@jest/globals';
import type { Database } from '@pf/database';
import type { Request, Response } from 'express';
import { admit, type ServingDependencies } from '../src/endpoint.ts';
import { Limits } from '../src/limits.ts';

describe('A request of a session', () => {
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
    } as unknown as ServingDependencies;
    const ask = (ip: string): Promise<unknown> => {
      const request = { ip, method: 'GET', headers: {}, get: () => undefined } as unknown as Request;
      return admit(request, response, { access: 'signed-in' }, dependencies).catch((error: unknown) => error);
    };
    return { ask, lookedUp, answers };
  }

  it('is looked up when it is the turn of its address, which takes no turn of another', async () => {
    const { ask, lookedUp, answers } = dashboard();
    const asked = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(ask);
    await Promise.resolve();
    expect(lookedUp).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2']);
    answers[0]?.();
    await asked[0];
    expect(lookedUp).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1']);
    for (const answer of answers) answer();
    for (const one of asked) expect(await one).toMatchObject({ code: 'session.required' });
  });

  it('waits for its turn with the others of its /48', async () => {
    const { ask, lookedUp, answers } = dashboard();
    const asked = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:0:2::1', '2001:db8:1::1'].map(ask);
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
