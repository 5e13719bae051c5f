import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chainOf, type Cluster, readBackingStack, startCluster, until } from '@pf/testing';
import { solanaWallet } from '@pf/testing/wallets';
import { codesOf } from '../../../../services/checkout/web/src/pay/codes.ts';
import { intentOf, shown } from '../../../../services/checkout/web/test/check/intents.ts';
import { TERMS } from '../../../../services/checkout/web/test/browser/stand-in.ts';

/**
 * The official library in a project of its own. It needs an older version of @solana/kit than ours: 45 MB in 72
 * packages, which npm finds by itself, and pnpm does not, beside the newer one.
 */
const LIBRARY = '@solana/pay@1.0.16';
/** A registry may be far away. */
const LONGEST_MS = 300_000;
const JUDGE = `
import { createSolanaRpc, getBase64EncodedWireTransaction } from '@solana/kit';
import { encodeURL, fetchTransaction, parseURL } from '@solana/pay';

const [what, ...args] = process.argv.slice(2);
const judged = {
  code: (code) => {
    const fields = parseURL(code);
    return { fields, written: encodeURL(fields).href };
  },
  transaction: async (link, account, rpcUrl) =>
    getBase64EncodedWireTransaction(await fetchTransaction(createSolanaRpc(rpcUrl), account, link)),
};
console.log(JSON.stringify(await judged[what](...args)));
`;

const stack = readBackingStack();
const chain = chainOf(stack, 'solana');
const [, , funded] = chain.wallets;
if (!funded) throw new Error('the stack has no wallet on Solana');
const wallet = solanaWallet(chain, funded);

describe('the official library of Solana Pay', () => {
  let folder: string;
  const run = async (program: string, ...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { cwd: folder, timeout: LONGEST_MS })).stdout;
  const judge = async <Judged>(what: 'code' | 'transaction', ...args: readonly string[]): Promise<Judged> =>
    JSON.parse(await run(process.execPath, 'judge.mjs', what, ...args)) as Judged;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'pf-solana-pay-'));
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
    await writeFile(path.join(folder, 'judge.mjs'), JUDGE);
    await run('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', LIBRARY);
  }, LONGEST_MS);
  afterAll(() => rm(folder, { recursive: true }));

  it('reads our codes, and writes the same ones', async () => {
    const terms = shown(TERMS.solana);
    const intent = intentOf(TERMS.solana, { fulfiller: wallet.address });
    const codes = codesOf(intent, terms, {
      origin: 'https://pay.example',
      page: `https://pay.example/pay/${intent.id}`,
      merchant: "Nora's Bikes & Söhne",
      solanaPayToken: `${intent.id}_spl_8sdf7Yhj3kLmN2pQ9rStUv`,
    });
    const contentOf = (wanted: string): string => codes.find(({ kind }) => kind === wanted)?.content ?? '';
    const request = contentOf('solana_request');
    expect(await judge('code', request)).toEqual({
      fields: { link: `https://pay.example/s/${intent.id}_spl_8sdf7Yhj3kLmN2pQ9rStUv` },
      written: request,
    });
    const transfer = contentOf('solana_transfer');
    const read = await judge<{ fields: unknown; written: string }>('code', transfer);
    expect(read.fields).toEqual({
      recipient: terms.requestor,
      amount: Number(intent.amount),
      splToken: terms.tokenAddress,
      reference: [terms.reference],
      label: "Nora's Bikes & Söhne",
      message: intent.id,
    });
    // It writes spaces as +, which means the same.
    expect([...new URL(read.written).searchParams]).toEqual(
      [...new URL(transfer).searchParams].map(([name, value]) => [
        name,
        name === 'amount' ? String(Number(value)) : value,
      ]),
    );
  });

  it(
    'gets a transaction from our link, with which a wallet pays',
    async () => {
      const cluster: Cluster = await startCluster(stack, [chain]);
      try {
        const [gateway] = await Promise.all([
          cluster.start('gateway'),
          cluster.start('intent'),
          cluster.start('watcher'),
        ]);
        const checkout = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url } });
        const shop = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
        const requestor = chain.wallets[1]?.address;
        const { intent, clientSecret } = (
          await shop.create({ chain: chain.caip2, token: 'USDC', amount: '0.25', requestor })
        ).body;
        const payer = apiClient(`${gateway.url}/v1`, clientSecret);
        const { solanaPayToken } = (
          await payer.request<{ readonly solanaPayToken: string }>('GET', `/intents/${intent.id}`)
        ).body;
        const link = `${checkout.url}/s/${solanaPayToken}`;
        const transaction = await judge<string>('transaction', link, wallet.address, chain.rpcUrl);
        const signed = await wallet.sign(transaction);
        const signature = await wallet.connection.sendRawTransaction(Buffer.from(signed, 'base64'));
        const paid = await until(
          'the payment',
          async () => {
            const now = (await shop.get(intent.id)).body.intent;
            return ['confirmed', 'finalized'].includes(now.state) && now;
          },
          60_000,
        );
        expect(paid).toMatchObject({ txSignature: signature, fulfiller: wallet.address });
      } finally {
        await cluster.close();
      }
    },
    LONGEST_MS,
  );
});
