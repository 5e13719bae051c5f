import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INTENT_STATUSES, type IntentStatus } from '@pf/domain';
import { type ApiClient, apiClient, chainOf, imageProgram, readStack, until } from '@pf/testing';
import { newWallet } from '@pf/testing/wallets';
import { Guide, tableUnder } from './guide.ts';

const PAGE = 'docs/guide/testing.md';
const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
const live = apiClient(stack.baseUrl, stack.apiKeys.live);
const base = chainOf(stack, 'base');
const request = { chain: base.caip2, token: 'USDC', amount: '5', requestor: newWallet(base).address };

const create = async (): Promise<string> => (await api.create(request)).body.intent.id;
const eventsOf = async (id: string): Promise<readonly string[]> =>
  (await api.events(id)).body.events.map(({ type }) => type);
const wordsIn = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

describe('the guide to testing', () => {
  let guide: Guide;
  const order = `t${Date.now()}`;
  beforeAll(async () => {
    guide = await Guide.open(PAGE, { 1043: order });
    // On which this guide builds.
    await guide.saveFilesOf('docs/guide/accept-a-payment.md');
  });
  afterAll(() => guide.close());

  it('leads to simulated payments, real ones and mistakes, when it is followed word by word', async () => {
    await guide.run('intents simulate');
    const simulated = (await guide.terminal.run('echo $ID')).trim();
    expect((await api.get(simulated)).body.intent.state).toBe('finalized');
    expect(await guide.run('npm run pay')).toMatch(/^confirmed$/m);

    await guide.save('encodeFunctionData');
    expect(await guide.run('node mistake.ts')).toMatch(/^0x\w{64}$/m);
    const id = (await guide.terminal.run('echo $ID')).trim();
    const event = (type: string, of = id): Promise<true> =>
      until(type, async () => (await eventsOf(of)).includes(type), 60_000);
    await event('intent.mismatched_payment');
    expect((await api.get(id)).body.intent.state).toBe('created');
    await guide.terminal.run('node wallet.ts $ID');
    await event('intent.confirmed');
    await guide.terminal.run('node mistake.ts $ID 12.50');
    await event('intent.extra_payment');
    const other = /pi_\w+/.exec(await guide.terminal.run(`node create.ts ${order}-cancelled`))?.[0] ?? '';
    await api.cancel(other);
    await guide.terminal.run(`node mistake.ts ${other} 12.50`);
    await event('intent.late_payment', other);
    expect(guide.left).toEqual([]);
  });

  it('lists every way to simulate a state, and its events', async () => {
    const rows = (await tableUnder(PAGE, 'Simulate a state')).map(([target, from, events]) => ({
      target: wordsIn(target)[0] as IntentStatus,
      from: wordsIn(from) as readonly IntentStatus[],
      events: wordsIn(events).filter((word) => word.startsWith('intent.')),
    }));
    expect(rows.map(({ target }) => target).sort()).toEqual([...INTENT_STATUSES].sort());
    for (const { target, from, events } of rows)
      await Promise.all(
        INTENT_STATUSES.filter((state) => state !== target).map(async (state) => {
          const id = await create();
          if (state !== 'created') expect((await api.simulate(id, state)).status).toBe(200);
          const before = await eventsOf(id);
          const { status, body } = await api.simulate(id, target);
          const isListed = from.includes(state);
          const outcome = isListed ? [200, undefined] : [409, 'intent.invalid_state'];
          expect([state, target, status, body.error?.code]).toEqual([state, target, ...outcome]);
          const added = (await eventsOf(id)).slice(before.length);
          const expected = isListed ? events.filter((type) => !before.includes(type)) : [];
          expect([state, target, added]).toEqual([state, target, expected]);
        }),
      );
  });

  it('causes each refusal that it lists', async () => {
    const key = stack.apiKeys.test;
    const refusals: Readonly<Record<string, () => ReturnType<ApiClient['get']>>> = {
      'api_key.invalid': () => apiClient(stack.baseUrl, key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')).get('pi_1'),
      'plan.upgrade_required': () => live.create({ ...request, chain: 'eip155:8453', ttlSeconds: 600 }),
      'intent.not_found': async () => live.get(await create()),
      'intent.stale_update': async () => {
        const { id, updatedAt } = (await api.create(request)).body.intent;
        await api.update(id, { updatedAt, metadata: { order: '1' } });
        return api.update(id, { updatedAt, metadata: { order: '2' } });
      },
      'intent.expired': async () => {
        const id = await create();
        await api.simulate(id, 'expired');
        return api.build(id, newWallet(base).address);
      },
      'token.not_available': () => api.create({ ...request, token: 'PYUSD' }),
      'transaction.rejected': async () => api.build(await create(), newWallet(base).address),
    };
    const listed = (await tableUnder(PAGE, 'Refusals')).map(([cell = '']) => cell.split(' '));
    // 600 requests are a test of their own, beside the gateway.
    const provoked = listed.filter(([, code]) => code !== '`rate_limit.exceeded`');
    expect(provoked.map(([, code = '']) => code.replaceAll('`', ''))).toEqual(Object.keys(refusals));
    for (const [status = '', code = ''] of provoked) {
      const refused = await refusals[code.replaceAll('`', '')]?.();
      expect(`${refused?.status} \`${refused?.body.error?.code}\``).toBe(`${status} ${code}`);
    }
  });

  it('names commands that exist', async () => {
    const cells = (await tableUnder(PAGE, 'Cause a failure')).map(([, cause]) => cause);
    const commands = cells.flatMap(wordsIn).filter((word) => word.startsWith('pf '));
    expect(commands.length).toBeGreaterThan(4);
    await Promise.all(
      commands.map(async (command) => {
        const words = [...command.split(' ').slice(1), '--help'];
        const { stdout } = await promisify(execFile)(process.execPath, [imageProgram(), 'pf', ...words]);
        expect(stdout).toContain(`Usage: ${command.split(' ').slice(0, 3).join(' ')}`);
      }),
    );
  });
});
