import { afterEach, describe, expect, it } from '@jest/globals';
import { PayerClient } from '../src/index.ts';
import { json, type Respond, type Service, startService } from './service.ts';

const ID = 'pi_5mUj8xNgYq3vWJ2hTfKd7';
const intent = { id: ID, state: 'created' };
const built = (blob: string): Respond => json(200, { intent, transaction: { blob } });
const rejected = json(422, {
  error: { code: 'transaction.rejected', message: 'The blockhash has expired.', param: null, details: null },
});
const mismatch = json(422, { error: { code: 'transaction.mismatch', message: 'no', param: null, details: null } });
const submitted = json(200, { intent, txSignature: 'sig' });

describe('paying with a wallet that signs', () => {
  let service: Service;
  afterEach(() => service.close());

  /** What the wallet signed, and how it ended. */
  async function paying(...responses: readonly Respond[]): Promise<readonly unknown[]> {
    service = await startService(...responses);
    const signed: string[] = [];
    const sign = async ({ blob }: { readonly blob: string }): Promise<string> => {
      signed.push(blob);
      return `signed ${blob}`;
    };
    const end = await service.client.intents
      .pay(ID, { fulfiller: '0x1', sign })
      .then(({ txSignature }) => txSignature)
      .catch(({ code }: { readonly code: string }) => code);
    return [...signed, end];
  }

  it('signs once what lives long enough', async () => {
    expect(await paying(built('A'), submitted)).toEqual(['A', 'sig']);
    expect(service.requests.map(({ url, body }): readonly unknown[] => [url, JSON.parse(body)])).toEqual([
      [`/v1/intents/${ID}/build`, { fulfiller: '0x1' }],
      [`/v1/intents/${ID}/submit`, { signedTransaction: 'signed A', fulfiller: '0x1' }],
    ]);
  });

  it('signs a new transaction where the person took longer than the first one lived', async () => {
    expect(await paying(built('A'), rejected, built('B'), submitted)).toEqual(['A', 'B', 'sig']);
  });

  it('asks no wallet again where the refusal has another reason', async () => {
    expect(await paying(built('A'), rejected, built('A'))).toEqual(['A', 'transaction.rejected']);
    await service.close();
    expect(await paying(built('A'), mismatch)).toEqual(['A', 'transaction.mismatch']);
  });

  it('gives up after three signatures', async () => {
    const responses = [built('A'), rejected, built('B'), rejected, built('C'), rejected];
    expect(await paying(...responses)).toEqual(['A', 'B', 'C', 'transaction.rejected']);
  });

  it('pays with a client secret, without naming a wallet that the intent names', async () => {
    service = await startService(built('A'), submitted);
    const payer = new PayerClient({ baseUrl: service.baseUrl, clientSecret: `${ID}_secret_5mUj8xNg` });
    expect(await payer.pay({ sign: async () => 'A!' })).toMatchObject({ txSignature: 'sig' });
    expect(service.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([{}, { signedTransaction: 'A!' }]);
  });
});
