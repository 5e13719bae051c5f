import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, readStack } from '@pf/testing';
import { Guide, readPage, tableUnder } from './guide.ts';

const PAGE = 'docs/guide/going-live.md';
const stack = readStack();
const liveApi = apiClient(stack.baseUrl, stack.apiKeys.live);
const order = `l${Date.now()}`;

describe('the guide to going live', () => {
  let guide: Guide;
  beforeAll(async () => {
    guide = await Guide.open(PAGE, { 1044: order });
    // On which this guide builds.
    await guide.saveFilesOf('docs/guide/accept-a-payment.md');
  });
  afterAll(() => guide.close());

  it('leads to a payment with a live key and its reconciliation, when it is followed word by word', async () => {
    await guide.save('createdAfter');
    const printed = await guide.run('node reconcile.ts');
    expect(printed).toMatch(/^pay 12\.50 USDC to 0x7099\w+\nsubmitted 0x\w{64}$/m);
    const final = `order ${order}: paid and final, deliver and book`;
    // Once from the stream, once from the list.
    expect(printed.split('\n').filter((line) => line === final)).toHaveLength(2);
    expect(printed).toMatch(/^\d+ intents were compared$/m);
    const { livemode, chain } = (await liveApi.get((await guide.terminal.run('echo $ID')).trim())).body.intent;
    expect({ livemode, chain }).toEqual({ livemode: true, chain: 'eip155:8453' });
    expect(guide.left).toEqual([]);
  });

  it('leads to each of its sections from the checklist, and tells the finality of each live network', async () => {
    const page = await readPage(PAGE);
    const [, checklist = '', rest = ''] = /^## Checklist\n([^]*?)^## ([^]*)/m.exec(page) ?? [];
    const sections = [...`## ${rest}`.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase());
    const linked = [...checklist.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor = '']) => anchor.replaceAll('-', ' '));
    expect(sections.filter((title) => !linked.includes(title))).toEqual([]);
    const networks = await tableUnder('docs/reference/contract.md', 'Chains, tokens, modes');
    const live = networks.filter(([, mode]) => mode === 'live').map(([network]) => network);
    expect((await tableUnder(PAGE, 'Finality')).map(([chain]) => chain).sort()).toEqual(live.sort());
  });
});
