import { afterEach, describe, expect, it } from '@jest/globals';
import { PayerClient } from '../src/index.ts';
import { json, type Respond, type Service, startService, stream } from './service.ts';

const ID = 'pi_5mUj8xNgYq3vWJ2hTfKd7';
const SECRET = `${ID}_secret_5mUj8xNgYq3vWJ2hTfKd75mUj8xNgYq3vWJ2hTfKd7`;
const intent = (state: string): object => ({ id: ID, state, pendingAtExpiry: false });

describe('PayerClient', () => {
  let service: Service;
  const respondingWith = async (...responses: readonly Respond[]): Promise<PayerClient> => {
    service = await startService(...responses);
    return new PayerClient({ baseUrl: service.baseUrl, clientSecret: SECRET });
  };
  afterEach(() => service.close());

  it('sends its client secret to the routes of its intent', async () => {
    const payer = await respondingWith(
      json(200, { intent: intent('created'), solanaPayToken: 'pi_spl', sponsors: ['fee_payer'] }),
      json(200, { intent: intent('created'), solanaPayToken: 'pi_spl', sponsors: ['fee_payer'] }),
      json(200, { intent: intent('created'), solanaPayToken: 'pi_spl', sponsors: ['fee_payer'] }),
      json(200, { intent: intent('created') }),
      json(200, { intent: intent('created'), transaction: { blob: 'AA==' } }),
      json(200, { intent: intent('pending'), txSignature: '0x1' }),
      json(200, { events: [{ eventId: 'evt_1' }], hasMore: false, nextCursor: null }),
      stream({ event: 'snapshot', id: '3', data: { intent: intent('confirmed') } }),
    );
    expect(payer.id).toBe(ID);
    expect(await payer.get()).toEqual(intent('created'));
    expect(await payer.solanaPayToken()).toBe('pi_spl');
    expect(await payer.sponsors()).toEqual(['fee_payer']);
    expect(await payer.detected()).toEqual(intent('created'));
    expect(await payer.build({ fulfiller: '0x1' })).toMatchObject({ transaction: { blob: 'AA==' } });
    expect(await payer.submit({ signedTransaction: '0x2' })).toMatchObject({ txSignature: '0x1' });
    expect(await payer.events()).toEqual([{ eventId: 'evt_1' }]);
    const states: string[] = [];
    for await (const followed of payer.follow()) states.push(`${followed.type} ${followed.intent.state}`);
    expect(states).toEqual(['snapshot confirmed']);
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /v1/intents/${ID}`,
      `GET /v1/intents/${ID}`,
      `GET /v1/intents/${ID}`,
      `POST /v1/intents/${ID}/detected`,
      `POST /v1/intents/${ID}/build`,
      `POST /v1/intents/${ID}/submit`,
      `GET /v1/intents/${ID}/events`,
      `GET /v1/intents/${ID}/events`,
    ]);
    expect(new Set(service.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${SECRET}`]),
    );
  });

  it.each([ID, `${ID}_spl_5mUj8xNgYq3vWJ2hTfKd7`, 'pk_test_x', `../${SECRET}`, ''])(
    'refuses an invalid client secret, and does not repeat it: %s',
    async (clientSecret) => {
      await respondingWith(json(200, {}));
      expect(() => new PayerClient({ baseUrl: service.baseUrl, clientSecret })).toThrow(
        new TypeError('clientSecret must be the whole text "pi_…_secret_…" of one intent.'),
      );
    },
  );
});
