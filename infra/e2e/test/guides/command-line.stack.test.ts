import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { imageProgram, readStack, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';
import { clerkOf, newMember, newShop } from '../dashboard/shop.ts';
import { Guide, tableUnder } from './guide.ts';

const PAGE = 'docs/guide/command-line.md';
const OPERATORS = [
  'accounts list',
  'log tail',
  'positions show',
  'dead-letters list',
  'watch rescan --network base --from 1',
  'sanctions flagged',
  'secrets rotate',
  'webhooks add https://shop.example/webhooks',
  'webhooks secret',
  'webhooks rotate-secret',
];
const { dashboard } = readStack();

describe('the guide to the command line', () => {
  let guide: Guide;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await webhookReceiver();
    guide = await Guide.open(PAGE, {
      'https://payments.example.com': dashboard.url,
      'https://shop.example/webhooks': receiver.url,
    });
  });
  afterAll(() => Promise.all([guide.close(), receiver.close()]));

  it('leads from a login to keys and webhooks without a database, when it is followed word by word', async () => {
    const { terminal } = guide;
    // A reader on a machine without a stack.
    await terminal.run(`unset PF_DATA PF_BASE_URL PF_API_KEY DATABASE_URL; export XDG_CONFIG_HOME='${guide.folder}'`);
    await terminal.run('pf() { npm run --silent pf -- "$@"; }');
    const owner = await clerkOf(dashboard);
    const shop = await newShop(owner, 'Command line');
    const person = await newMember(dashboard.url, owner, shop, 'developer');
    const clerk = await clerkOf({ url: dashboard.url, ...person });

    await guide.start('pf login', { name: 'login', folder: '.' });
    const code = await until(
      'the code',
      async () => /^ +([A-Z]{4}-[A-Z]{4})$/m.exec(await guide.printedBy('login'))?.[1],
      60_000,
    );
    const { device } = await clerk.call<{ device: { clientName: string } }>('GET', `/device/requests/${code}`);
    expect(device.clientName).toMatch(/^pf on /);
    await clerk.call('POST', `/device/requests/${code}/approve`, { password: person.password });
    await until('the login', async () => (await guide.printedBy('login')).includes('You are logged in.'), 60_000);
    const [whoami, logout, login] = (await tableUnder(PAGE, 'Log in')).map(([cell = '']) => cell.replaceAll('`', ''));
    expect(login).toBe('pf login');
    expect(await terminal.run(whoami ?? '')).toContain(person.email);
    expect(await terminal.run('stat -c %a "$XDG_CONFIG_HOME/pf/login.json"')).toContain('600');

    const { intent } = await clerk.call<{ intent: { id: string } }>(
      'POST',
      `/accounts/${shop.accountId}/test/v1/intents`,
      { chain: 'eip155:84532', token: 'USDC', amount: '5', requestor: '0x1111111111111111111111111111111111111111' },
    );
    const worked = await guide.run('pf intents list');
    expect(worked).toContain(intent.id);
    expect(worked).toMatch(/pk_live_\w+/);
    expect(worked).toMatch(/whe_\w+/);
    expect(worked).toMatch(/whr_\w+ has started/);
    const keys = await clerk.call<{ keys: { name: string; mode: string }[] }>(
      'GET',
      `/accounts/${shop.accountId}/keys`,
    );
    expect(keys.keys).toContainEqual(expect.objectContaining({ name: 'Checkout server', mode: 'live' }));
    const listed = await terminal.run(`pf --json --account ${shop.accountId} webhooks list`);
    expect(JSON.parse(listed)).toMatchObject({ endpoints: [{ url: receiver.url, name: 'shop' }] });
    expect(await terminal.run('pf --mode live intents list')).not.toContain(intent.id);

    // Beside the repository, in which a local stack may run.
    await terminal.run(`operator() { (cd '${guide.folder}' && node '${imageProgram()}' pf "$@"); }`);
    for (const command of OPERATORS)
      expect([command, await terminal.run(`! operator ${command}`)]).toEqual([
        command,
        expect.stringMatching(/DATABASE_URL|KAFKA_BROKERS/),
      ]);
    expect(await terminal.run(logout ?? '')).toContain('You are logged out');
    expect(await terminal.run(`! ${whoami}`)).toContain('You are not logged in.');
    expect(guide.left).toEqual([]);
  });
});
