import { type ApiAnswer, apiClient, chainOf, evmWallet, hasValidSignature, pf, readStack, type Stack, type StackChain, stackFile, until, webhookReceiver } from '@pf/testing';

/**
 * Pays an intent as a client would: through the public API only, with a wallet that signs for itself. Prints what each
 * step took, the balances on chain before and after, and the webhooks that came.
 */
const AMOUNT = '1.25';
const dim = (text: string): string => (process.stdout.isTTY ? `\u001b[2m${text}\u001b[0m` : text);
const bold = (text: string): string => (process.stdout.isTTY ? `\u001b[1m${text}\u001b[0m` : text);
const say = (text = ''): void => console.log(text);

/** The timeline: each line tells when the step ended, since the beginning, and how long it took. */
function timeline() {
  const began = performance.now();
  let last = began;
  return {
    step(what: string, result: string): void {
      const now = performance.now();
      say(`${`${Math.round(now - began)} ms`.padStart(9)} ${dim(`+${Math.round(now - last)}`.padStart(6))}  ${what.padEnd(44)} ${result}`);
      last = now;
    },
    elapsed: () => performance.now() - began,
  };
}

function expectSuccess<Body>(answer: ApiAnswer<Body>, what: string): Body {
  if (answer.status < 300) return answer.body;
  throw new Error(`${what} answered ${answer.status} ${answer.body.error?.code ?? ''}: ${answer.body.error?.message ?? 'no message'}`);
}

async function pay(stack: Stack, name: string, chain: StackChain): Promise<void> {
  const [payer, merchant] = [chain.wallets[0], chain.wallets[1]];
  const token = chain.tokens['USDC'];
  if (!payer || !merchant || token === undefined) throw new Error(`${stackFile()} lists no wallets or no USDC for ${name}`);
  const wallet = evmWallet(chain, payer);
  const till = evmWallet(chain, merchant);
  const balances = async (): Promise<string> => {
    const [payers, tills] = await Promise.all([wallet.tokenBalance(token), till.tokenBalance(token)]);
    return `payer ${usdc(payers)}   requestor ${usdc(tills)}`;
  };

  const receiver = await webhookReceiver();
  // Delivery URLs are set on the command line: until there is a page for it, that is the dashboard.
  await pf('webhooks', 'add', receiver.url);
  try {
    say(`\n${bold(`Paying ${AMOUNT} USDC on ${name}`)} ${dim(chain.caip2)}`);
    say(`  requestor ${merchant.address}\n  fulfiller ${payer.address}`);
    say(`  balances  ${await balances()}\n`);
    const api = apiClient(stack.baseUrl, stack.apiKeys.test);
    const time = timeline();

    const created = expectSuccess(await api.create({ chain: chain.caip2, token: 'USDC', amount: AMOUNT, requestor: merchant.address, metadata: { order: 'demo' } }), 'POST /intents').intent;
    time.step('POST /intents', `${created.id} ${created.state}`);
    time.step('POST /intents/{id}/detected', expectSuccess(await api.detected(created.id), 'detected').intent.state);
    time.step('GET  /intents/{id}', expectSuccess(await api.get(created.id), 'GET').intent.state);
    const built = expectSuccess(await api.build(created.id, payer.address), 'build');
    time.step('POST /intents/{id}/build', `${built.transaction.format}, fee about ${built.transaction.estimatedFeeEth} ETH`);
    const signed = await wallet.sign(built.transaction.blob);
    time.step('the wallet signs', `${Buffer.from(signed, 'base64').length} bytes`);
    const submitted = expectSuccess(await api.submit(created.id, signed, payer.address), 'submit');
    const submittedAt = time.elapsed();
    time.step('POST /intents/{id}/submit', `${submitted.intent.state} ${submitted.txSignature}`);
    await reach(api, created.id, 'confirmed');
    time.step('confirmed on chain', `${Math.round(time.elapsed() - submittedAt)} ms after submit`);
    await reach(api, created.id, 'finalized');
    time.step('finalized', '');
    say(`\n  balances  ${await balances()}\n`);

    await until('the webhook intent.finalized', () => receiver.received.some((webhook) => webhook.body.type === 'intent.finalized'), 20_000);
    say('  webhooks');
    for (const webhook of receiver.received.filter(({ body }) => body.data.intent.id === created.id)) {
      say(`    ${webhook.body.type.padEnd(20)} ${webhook.body.eventId}  signature ${hasValidSignature(webhook, stack.webhookSecret) ? 'valid' : 'INVALID'}`);
    }
    say();
  } finally {
    await pf('webhooks', 'remove', receiver.url);
    await receiver.close();
  }
}

const usdc = (units: bigint): string => `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`;

/** Polls as a simple client would, until the intent has passed `state`. */
async function reach(api: ReturnType<typeof apiClient>, id: string, state: 'confirmed' | 'finalized'): Promise<void> {
  const good = state === 'confirmed' ? ['confirmed', 'finalized'] : ['finalized'];
  await until(`intent ${id} to be ${state}`, async () => {
    const { intent } = expectSuccess(await api.get(id), 'GET');
    if (intent.state === 'failed') throw new Error(`the payment failed on chain: ${intent.txSignature}`);
    return good.includes(intent.state);
  }, 60_000);
}

try {
  const stack = readStack();
  const asked = process.argv[2] ?? 'base';
  await pay(stack, asked, chainOf(stack, asked));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(`\nThe demo stopped: ${error.message}`);
  process.exitCode = 1;
}
