// A fee payer service of Tempo: it holds a key with fee tokens, and signs for the fee of what payers have signed. How
// honest it is, the path says. Run as a process of its own, with PRIVATE_KEY and FEE_TOKEN.
import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { Account, Transaction } from 'viem/tempo';
import { type Answer, serve } from './serve.ts';

interface Handed {
  /** What the payer has signed, as `eth_signRawTransaction` takes it. */
  readonly transaction: Hex;
}

const { PRIVATE_KEY = '', FEE_TOKEN = '' } = process.env;
const feePayer = Account.fromSecp256k1(PRIVATE_KEY as Hex);
async function approve({ transaction }: Handed, change: object = {}): Promise<Answer> {
  const signed: object = Transaction.deserialize(transaction as never);
  const approved = await Transaction.serialize({ ...signed, feeToken: FEE_TOKEN, feePayer, ...change } as never);
  return { status: 200, body: { transaction: approved } };
}

const stalled: Handed[] = [];
serve<Handed>({
  '/honest': (handed) => approve(handed),
  '/alters': (handed) => approve(handed, { maxFeePerGas: 10n ** 12n }),
  '/refuses': async () => ({ status: 403, body: { error: 'not today' } }),
  '/lies': async () => ({ status: 200, body: { transaction: `0x${randomBytes(32).toString('hex')}` } }),
  '/stalls': async (handed) => {
    stalled.push(handed);
    return { status: 202, body: {} };
  },
  '/wakes-up': async () => {
    const handed = stalled.shift();
    return handed === undefined ? { status: 404, body: { error: 'nothing is left' } } : approve(handed);
  },
});
