// A relayer: it holds a key with ETH, and sends the calls that it is given. How honest it is, the path says.
// Run as a process of its own: `node relayer-process.ts`, with RPC_URL, CHAIN_ID and PRIVATE_KEY.
import { randomBytes } from 'node:crypto';
import { createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Answer, serve } from './serve.ts';

interface Call {
  readonly to: Hex;
  readonly data: Hex;
}

const { RPC_URL = '', CHAIN_ID = '', PRIVATE_KEY = '' } = process.env;
const account = privateKeyToAccount(PRIVATE_KEY as Hex);
const chain = {
  id: Number(CHAIN_ID),
  name: 'local',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [RPC_URL] } },
};
const client = createWalletClient({ account, chain, transport: http(RPC_URL) });
/** The gas is given, so that a call that fails is sent all the same. */
const send = ({ to, data }: Call): Promise<Hex> => client.sendTransaction({ to, data, gas: 500_000n });
const sent = async (call: Call): Promise<Answer> => ({ status: 200, body: { hash: await send(call) } });

const WORD = 64;
/** The same call with another word among its arguments: 1 is the recipient, 2 the amount. */
const withWord = ({ to, data }: Call, place: number, word: string): Call => {
  const at = 10 + place * WORD;
  return { to, data: `${data.slice(0, at)}${word.padStart(WORD, '0')}${data.slice(at + WORD)}` as Hex };
};

const stalled: Call[] = [];
serve<Call>({
  '/honest': sent,
  '/redirects': (call) => sent(withWord(call, 1, account.address.slice(2).toLowerCase())),
  '/takes-more': (call) => sent(withWord(call, 2, 'ffffff')),
  '/refuses': async () => ({ status: 403, body: { error: 'not today' } }),
  '/lies': async () => ({ status: 200, body: { hash: `0x${randomBytes(32).toString('hex')}` } }),
  '/stalls': async (call) => {
    stalled.push(call);
    return { status: 202, body: {} };
  },
  '/wakes-up': async () => {
    const call = stalled.shift();
    return call === undefined ? { status: 404, body: { error: 'nothing is left' } } : sent(call);
  },
});
