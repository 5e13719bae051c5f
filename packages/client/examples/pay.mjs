// Pays a payment intent on the local Base chain, as a payer's app does: build, sign, submit, follow.
//
//   npm run pay -- pi_…
//
// The wallet is one that the local stack has funded. Its key stays in this process: the API sees signatures only.
// PF_API_KEY names the key of another account than the stack's own.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { PaymentClient } from '@pf/client';
import { parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

process.on('uncaughtException', ({ message }) => {
  console.error(message);
  process.exitCode = 1;
});
const [id] = process.argv.slice(2);
if (id === undefined) {
  console.error('Name the payment intent to pay: npm run pay -- pi_…');
  process.exit(64);
}
const file = process.env.STACK_FILE ?? path.join(process.env.PF_DATA ?? '.local', 'stack.json');
const stack = await readFile(file, 'utf8').catch((cause) => {
  throw new Error('No stack is running. Start one with `npm start`.', { cause });
});
const { baseUrl, apiKeys, chains } = JSON.parse(stack);

const client = new PaymentClient({
  baseUrl: process.env.PF_BASE_URL ?? baseUrl,
  apiKey: process.env.PF_API_KEY ?? apiKeys.test,
});
const { chain, amount, token, requestor } = await client.intents.get(id);
if (chain !== chains.base.caip2) {
  console.error(`${id} is to be paid on ${chain}, and this example pays on Base. npm run demo pays on every chain.`);
  process.exit(1);
}
const { privateKey } = chains.base.wallets.find(({ address }) => address !== requestor);
const wallet = privateKeyToAccount(privateKey);

const { transaction } = await client.intents.build(id, { fulfiller: wallet.address });
console.log(`built      ${amount} ${token} to ${requestor}, fee about ${transaction.estimatedFeeEth} ETH`);

const unsigned = parseTransaction(`0x${Buffer.from(transaction.blob, 'base64').toString('hex')}`);
const signedTransaction = await wallet.signTransaction(unsigned);
console.log(`signed     by ${wallet.address}`);

const { txSignature } = await client.intents.submit(id, { signedTransaction, fulfiller: wallet.address });
console.log(`submitted  ${txSignature}`);

for await (const { intent } of client.intents.follow(id)) console.log(intent.state);
