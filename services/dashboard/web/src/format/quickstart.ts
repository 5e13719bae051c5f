interface Step {
  readonly title: string;
  readonly about: string;
  /** What the code is: a command, a file. */
  readonly label: string;
  readonly code: string;
}
interface Filled {
  /** Of the payment API, with its version. */
  readonly apiUrl: string;
  readonly key: string;
}

const PAYMENT = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x1111111111111111111111111111111111111111',
  metadata: { order: 'A-1001' },
};

/** For a terminal with curl and Node. A test runs them. */
export const curlSteps = ({ apiUrl, key }: Filled): readonly Step[] => [
  {
    title: 'Create a payment',
    about: 'A request for 12.50 USDC on Base Sepolia. The wallet is an example: put yours to receive the tokens.',
    label: 'In a terminal',
    code: `export API=${apiUrl} KEY=${key}
PAYMENT=$(curl -s $API/intents \\
  -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(PAYMENT, null, 2)}')
echo "$PAYMENT"
ID=$(echo "$PAYMENT" | grep -o 'pi_[A-Za-z0-9]*' | head -n 1)`,
  },
  {
    title: 'Pay it',
    about: 'Simulated: every state and every event is as with a real wallet, and no token moves.',
    label: 'In the same terminal',
    code: `curl -s $API/test/intents/$ID/simulate \\
  -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"targetState": "confirmed"}'`,
  },
  {
    title: 'See what happened',
    about: 'The same events go to your webhooks.',
    label: 'In the same terminal',
    code: 'curl -s $API/intents/$ID/events -H "Authorization: Bearer $KEY"',
  },
];

/** For the client of packages/client. */
export const typescriptSteps = ({ apiUrl, key }: Filled): readonly Step[] => [
  {
    title: 'Create a payment',
    about: 'A request for 12.50 USDC on Base Sepolia. The wallet is an example: put yours to receive the tokens.',
    label: 'payment.ts',
    code: `import { PaymentClient } from '@pf/client';

const client = new PaymentClient({
  baseUrl: '${apiUrl}',
  apiKey: '${key}',
});
const payment = await client.intents.create({
  chain: '${PAYMENT.chain}',
  token: '${PAYMENT.token}',
  amount: '${PAYMENT.amount}',
  requestor: '${PAYMENT.requestor}',
  metadata: { order: 'A-1001' },
});
console.log(payment.id, payment.state);`,
  },
  {
    title: 'Pay it',
    about: 'Simulated: every state and every event is as with a real wallet, and no token moves.',
    label: 'payment.ts, continued',
    code: "await client.intents.simulate(payment.id, 'confirmed');",
  },
  {
    title: 'See what happened',
    about: 'The stream reconnects by itself, and ends with the payment.',
    label: 'payment.ts, continued',
    code: `for await (const { type, intent } of client.intents.follow(payment.id))
  console.log(type, intent.state);`,
  },
];
