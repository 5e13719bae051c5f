import {
  apiClient,
  chainOf,
  hasValidSignature,
  pf,
  readStack,
  stackFile,
  type Stack,
  until,
  webhookReceiver,
  type WebhookReceiver,
} from '@pf/testing';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { CHAINS, type ChainName } from '../chains/chains.ts';
import { faultOn } from './faults.ts';
import { UsageError } from '../command-line.ts';
import { type Options, readOptions, type Scenario, USAGE } from './options.ts';
import { bold, dim, money, say, timeline } from './output.ts';
import { AMOUNT, type Intent, type Scene } from './scene.ts';
import { fail, LAST_EVENT, pay, payAfterDrop, payByEar } from './scenarios.ts';

const TITLES: Readonly<Record<Scenario, string>> = {
  pay: `Paying ${AMOUNT} USDC on`,
  sound: `Paying ${AMOUNT} USDC by sound on`,
  drop: `Paying ${AMOUNT} USDC at the second attempt on`,
  fail: `Failing to pay ${AMOUNT} USDC on`,
};

/** Undoes the changes to the chains, also after Ctrl-C. */
const undoing = new Set<() => Promise<void>>();
async function undo(): Promise<void> {
  for (const one of [...undoing].reverse()) {
    undoing.delete(one);
    await one();
  }
}

async function play(stack: Stack, name: ChainName, scenario: Scenario, receiver: WebhookReceiver): Promise<void> {
  const chain = chainOf(stack, name);
  const [payer] = chain.wallets;
  const usdc = chain.tokens['USDC'];
  if (!payer || usdc === undefined)
    throw new Error(`${stackFile()} lists no wallets for ${name}. The demo pays only on the stack's own chains.`);
  say(`\n${bold(`${TITLES[scenario]} ${CHAINS[name].label}`)} ${dim(chain.caip2)}`);
  const fault = scenario === 'pay' || scenario === 'sound' ? null : faultOn(name, chain, payer, scenario);
  if (fault) undoing.add(() => fault.undo());
  const scene: Scene = {
    chain,
    api: apiClient(stack.baseUrl, stack.apiKeys.test),
    payer,
    requestor: newWallet(chain),
    time: timeline(),
  };
  const balances = async (): Promise<string> => {
    const [payers, requestors] = await Promise.all(
      [scene.payer, scene.requestor].map((wallet) => walletOn(chain, wallet).tokenBalance(usdc)),
    );
    return `payer ${money(payers ?? 0n)}   requestor ${money(requestors ?? 0n)}`;
  };

  say(`  requestor ${scene.requestor.address}\n  fulfiller ${scene.payer.address}\n  balances  ${await balances()}\n`);
  const intent =
    fault === null
      ? await (scenario === 'sound' ? payByEar : pay)(scene)
      : scenario === 'drop'
        ? await payAfterDrop(scene, fault)
        : await fail(scene, fault);
  await undo();
  say(`\n  balances  ${await balances()}`);
  await showWebhooks(receiver, intent, LAST_EVENT[scenario], stack.webhookSecret);
}

async function showWebhooks(
  { received }: WebhookReceiver,
  { id }: Intent,
  last: string,
  secret: string,
): Promise<void> {
  const ours = () => received.filter(({ body }) => body.data.intent.id === id);
  await until(`the webhook ${last}`, () => ours().some(({ body }) => body.type === last), 20_000);
  say('  webhooks');
  for (const webhook of ours()) {
    say(
      `    ${webhook.body.type.padEnd(22)} ${webhook.body.eventId}  signature ` +
        `${hasValidSignature(webhook, secret) ? 'valid' : 'INVALID'}`,
    );
  }
}

/** @throws Error when a payment does not end as its scenario says, or when `interrupted` rejects */
async function demo({ chains, scenario }: Options, interrupted: Promise<never>): Promise<void> {
  const stack = readStack();
  const receiver = await webhookReceiver(undefined, stack.webhookHost);
  // Accounts register webhook URLs with the CLI, not through the API.
  await pf('webhooks', 'add', receiver.url);
  try {
    for (const name of chains) await Promise.race([play(stack, name, scenario, receiver), interrupted]);
    say();
  } finally {
    await undo();
    await pf('webhooks', 'remove', receiver.url);
    await receiver.close();
  }
}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const interrupted = new Promise<never>((_, reject) => process.once('SIGINT', () => reject(new Error('interrupted'))));
try {
  const options = readOptions(process.argv.slice(2));
  if (options === null) say(USAGE);
  else await demo(options, interrupted);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `\nThe demo stopped: ${error.message}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
// After Ctrl-C the demo would go on waiting for the payment.
process.exit();
