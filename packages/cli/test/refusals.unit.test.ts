import { describe, expect, it } from '@jest/globals';
import { ReusedKeyError } from '@pf/client';
import { tellRefusals } from '../src/refusals.ts';

const asked = { mode: 'test', url: 'http://127.0.0.1:4000/v1', isLocal: true } as const;

describe('tellRefusals', () => {
  it('says what a reused key was used for, and where the request differs', async () => {
    const existing = { intent: { id: 'pi_1' } } as ConstructorParameters<typeof ReusedKeyError>[0];
    const error = new ReusedKeyError(existing, { amount: { existing: '12.50', requested: '99' } });
    await expect(tellRefusals(asked, () => Promise.reject(error))).rejects.toMatchObject({
      name: 'CliError',
      message:
        'The key was used for pi_1 within 24 hours, and nothing was created:\namount: 12.50, not 99\nUse another key.',
    });
  });
});
