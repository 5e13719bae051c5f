import { describe, expect, it } from '@jest/globals';
import { type ChainAdapter, RpcUnavailableError } from '@pf/chains';
import type { AccountId, Address, ChainId } from '@pf/domain';
import type { Logger } from '@pf/runtime';
import type { Screening } from '@pf/screening';
import { requireCleanWallets } from '../../src/intents/clean-wallets.ts';

const CHAIN = 'eip155:4217' as ChainId;
const VIRTUAL = `0x12345678${'fd'.repeat(10)}010203040506` as Address;
const MASTER = `0x${'99'.repeat(20)}` as Address;
const PAYER = `0x${'11'.repeat(20)}` as Address;

type Payee = (address: Address) => Promise<Address | null>;

/** What a create is answered, and which wallets were screened. */
async function created(
  livemode: boolean,
  payee: Payee | undefined,
  listed: Address | null = null,
): Promise<{ readonly screened: readonly Address[]; readonly refused: unknown }> {
  const screened: Address[] = [];
  const screening = {
    screen: async (wallets: readonly { readonly chain: ChainId; readonly address: Address }[]) => {
      screened.push(...wallets.map(({ address }) => address));
      const found = wallets.find(({ address }) => address === listed);
      return found === undefined ? { kind: 'clean' } : { kind: 'match', wallet: found, finding: 'a list' };
    },
  } as unknown as Screening;
  const adapter = (payee === undefined ? {} : { payee }) as ChainAdapter;
  const refused = await requireCleanWallets(
    { adapters: new Map([[CHAIN, adapter]]), screening, log: { warn: () => undefined } as unknown as Logger },
    { chain: CHAIN, requestor: VIRTUAL, fulfiller: PAYER },
    { holder: { accountId: 'acct_1' as AccountId, livemode }, what: 'create' },
  ).catch((error: unknown) => error);
  return { screened, refused };
}

describe('The account that gets what a requestor is paid', () => {
  it('is screened beside the requestor and the fulfiller', async () => {
    expect(await created(true, async () => MASTER)).toEqual({ screened: [VIRTUAL, MASTER, PAYER], refused: undefined });
    expect(await created(true, async (address) => address)).toMatchObject({ screened: [VIRTUAL, PAYER] });
    expect(await created(true, undefined)).toMatchObject({ screened: [VIRTUAL, PAYER], refused: undefined });
  });

  it('refuses the requestor where it is sanctioned', async () => {
    const { refused } = await created(true, async () => MASTER, MASTER);
    expect(refused).toMatchObject({
      code: 'address.sanctions_match',
      param: 'requestor',
      details: { address: MASTER },
    });
    expect((await created(true, async () => MASTER, PAYER)).refused).toMatchObject({ param: 'fulfiller' });
  });

  it('has to be known in live mode, and need not be in test mode', async () => {
    expect(await created(true, async () => null)).toMatchObject({
      screened: [],
      refused: { code: 'address.not_payable', status: 422, param: 'requestor' },
    });
    expect(await created(false, async () => null)).toEqual({ screened: [VIRTUAL, PAYER], refused: undefined });
  });

  it('refuses for now where no upstream responds', async () => {
    const { refused } = await created(true, () => Promise.reject(new RpcUnavailableError('none responds')));
    expect(refused).toMatchObject({ code: 'rpc.unavailable', status: 503 });
  });
});
