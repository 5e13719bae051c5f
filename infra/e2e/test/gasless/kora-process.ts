// A fee payer service of Solana, with Kora's JSON-RPC: it holds a key with SOL, and signs for the fee of what payers
// have signed. How honest it is, the path says. Run as a process of its own, with PRIVATE_KEY and RPC_URL.
import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { Connection, Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js';
import type { KoraRequest } from './relayer.ts';
import { type Answer, serve } from './serve.ts';

const { PRIVATE_KEY = '', RPC_URL = '' } = process.env;
const feePayer = Keypair.fromSecretKey(base58.decode(PRIVATE_KEY));

const result = (body: object): Answer => ({ status: 200, body: { jsonrpc: '2.0', id: 1, result: body } });
const decode = ({ params }: KoraRequest): VersionedTransaction =>
  VersionedTransaction.deserialize(Buffer.from(params?.transaction ?? '', 'base64'));
/** Signs what the payer has signed, or another message under the payer's signature. */
function approved(request: KoraRequest, change: (transaction: VersionedTransaction) => void = () => {}): Answer {
  const transaction = decode(request);
  const ofPayer = transaction.signatures[1] ?? new Uint8Array(64);
  change(transaction);
  transaction.sign([feePayer]);
  transaction.signatures[1] = ofPayer;
  return result({ signed_transaction: Buffer.from(transaction.serialize()).toString('base64') });
}
const REFUSED: Answer = { status: 403, body: { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'not today' } } };

/** Says who pays, and treats what it is asked to sign in its own way. */
const signing =
  (sign: (request: KoraRequest) => Promise<Answer>) =>
  async (request: KoraRequest): Promise<Answer> => {
    if (request.method === 'getPayerSigner')
      return result({ signer_address: feePayer.publicKey.toBase58(), payment_address: feePayer.publicKey.toBase58() });
    asked += 1;
    return sign(request);
  };

/** How often it was asked to sign. */
let asked = 0;
const stalled: KoraRequest[] = [];
serve<KoraRequest>({
  '/asked': async () => result({ asked }),
  '/honest': signing(async (request) => approved(request)),
  '/asks-for-a-key': async (request, headers) =>
    headers['x-api-key'] === 'kora-secret' ? signing(async () => approved(request))(request) : REFUSED,
  '/names-nonsense': async () => result({ signer_address: 'nonsense' }),
  '/hangs': () => new Promise<never>(() => {}),
  '/signs-wrongly': signing(async (request) => {
    const transaction = decode(request);
    transaction.signatures[0] = randomBytes(64);
    return result({ signed_transaction: Buffer.from(transaction.serialize()).toString('base64') });
  }),
  '/fails': signing(async () => ({ status: 500, body: {} })),
  '/alters': signing(async (request) =>
    approved(request, ({ message }) => {
      message.recentBlockhash = base58.encode(randomBytes(32));
    }),
  ),
  '/redirects': signing(async (request) =>
    approved(request, ({ message }) => {
      const transfer = message.compiledInstructions.at(-1);
      message.staticAccountKeys[transfer?.accountKeyIndexes[2] ?? 0] = new PublicKey(randomBytes(32));
    }),
  ),
  '/refuses': signing(async () => REFUSED),
  '/lies': signing(async () => result({ signed_transaction: base58.encode(randomBytes(64)) })),
  '/stalls': signing(async (request) => {
    stalled.push(request);
    return { status: 202, body: {} };
  }),
  '/wakes-up': async () => {
    const request = stalled.shift();
    return request === undefined ? { status: 404, body: { error: 'nothing is left' } } : approved(request);
  },
  '/sends-and-says-it-refused': signing(async (request) => {
    const transaction = decode(request);
    transaction.sign([feePayer]);
    await new Connection(RPC_URL, 'confirmed').sendRawTransaction(transaction.serialize());
    return REFUSED;
  }),
});
