import { CHAIN_NAMES, CHAINS } from '../chains/chains.ts';
import type { Stack } from './stack.ts';

/** What the terminal shows when the stack is up: addresses, an API key, the next command. */
export function summary(stack: Omit<Stack, 'pids'>, file: string): string {
  const rows: [string, string][] = [
    ...(stack.baseUrl && stack.apiKeys
      ? ([
          ['API', stack.baseUrl],
          ['Test API key', stack.apiKeys.test],
        ] as [string, string][])
      : []),
    ...(stack.dashboard?.url
      ? ([
          ['Dashboard', stack.dashboard.url],
          ['Sign in as', stack.dashboard.email],
          ['Password', stack.dashboard.password],
        ] as [string, string][])
      : []),
    ...(stack.checkout ? ([['Pages to pay', stack.checkout.url]] as [string, string][]) : []),
    ...(stack.archive ? ([['Archive', stack.archive.path]] as [string, string][]) : []),
    ...CHAIN_NAMES.flatMap((name): [string, string][] => {
      const chain = stack.chains[name];
      return chain ? [[CHAINS[name].label, chain.rpcUrl]] : [];
    }),
    ['Postgres', withoutPassword(stack.database)],
    ['Redis', withoutPassword(stack.redis)],
    ['Kafka', stack.kafka],
    ['Everything else', file],
  ];
  const table = rows.map(([name, value]) => `  ${name.padEnd(16)}${value}`).join('\n');
  const next = stack.baseUrl
    ? 'Next: docs/guide/quickstart.md, or in another terminal npm run demo'
    : 'Only the backing services run.';
  return `\n${table}\n\n${next}   (Ctrl-C stops the stack)\n`;
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '…';
  return decodeURI(parsed.href);
}
