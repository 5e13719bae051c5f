// A fee payer service of Tempo: it holds a key with fee tokens, and signs for the fee of what payers have signed. How
// honest it is, the path says. Run as a process of its own, with RPC_URL, PRIVATE_KEY and FEE_TOKEN.
import { randomBytes } from 'node:crypto';
import { createClient, type Hex, http } from 'viem';
import { sendRawTransaction } from 'viem/actions';
import { Account, Relay, Transaction } from 'viem/tempo';
import type { FeePayerRequest } from './relayer.ts';
import { type Answer, serve } from './serve.ts';

const { RPC_URL = '', PRIVATE_KEY = '', FEE_TOKEN = '' } = process.env;
const feePayer = Account.fromSecp256k1(PRIVATE_KEY as Hex);
const node = createClient({ transport: http(RPC_URL) });
/** As services are run with viem. */
const relay = Relay.handleRequest(node.request as never, {
  plugins: [Relay.feePayer({ account: feePayer, feeToken: FEE_TOKEN as Hex })],
});

const result = (value: unknown): Answer => ({ status: 200, body: { jsonrpc: '2.0', id: 1, result: value } });
const REFUSED: Answer = { status: 403, body: { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'not today' } } };
async function signed({ params: [handed] }: FeePayerRequest, change: object = {}): Promise<Hex> {
  const transaction: object = Transaction.deserialize(handed as never);
  return Transaction.serialize({ ...transaction, feeToken: FEE_TOKEN, feePayer, ...change } as never);
}

const stalled: FeePayerRequest[] = [];
serve<FeePayerRequest>({
  '/relay': async (request) => result(await relay(request)),
  '/honest': async (request) => result(await signed(request)),
  '/alters': async (request) => result(await signed(request, { maxFeePerGas: 10n ** 12n })),
  '/refuses': async () => REFUSED,
  '/lies': async () => result(`0x${randomBytes(32).toString('hex')}`),
  '/hangs': () => new Promise<never>(() => {}),
  '/stalls': async (request) => {
    stalled.push(request);
    return { status: 202, body: {} };
  },
  '/wakes-up': async () => {
    const request = stalled.shift();
    return request === undefined ? { status: 404, body: { error: 'nothing is left' } } : result(await signed(request));
  },
  '/sends-and-says-it-refused': async (request) => {
    await sendRawTransaction(node, { serializedTransaction: await signed(request) });
    return REFUSED;
  },
});
