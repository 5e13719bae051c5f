import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts, until } from '@pf/testing';
import { Guide } from './guide.ts';

describe('the guide to webhooks', () => {
  let guide: Guide;
  let ports: readonly number[];
  beforeAll(async () => {
    ports = await freePorts(2);
    const replaced = { 3000: String(ports[0]), 3001: String(ports[1]) };
    guide = await Guide.open('docs/guide/webhooks.md', replaced, 'installed by the page');
  });
  afterAll(() => guide.close());

  /** Starts a receiver and waits until it listens. */
  const start = async (text: string, name: string, port = 0): Promise<() => void> => {
    const stop = await guide.start(text, { name });
    await until('the receiver to listen', async () => {
      const { status } = await fetch(`http://127.0.0.1:${ports[port]}`, { method: 'POST', body: '{}' });
      return status === 400;
    });
    return stop;
  };

  const isGone = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${ports[0]}`).then(
      () => false,
      () => true,
    );

  it('leads to receivers that get, verify and recover every event, when it is followed word by word', async () => {
    const stopListening = await guide.start('pf -- listen', { name: 'listen', folder: '.' });
    await until('pf listen', async () => (await guide.printedBy('listen')).includes('whsec_'), 60_000);
    stopListening();

    expect(await guide.run('/webhook-endpoints')).toMatch(/^whe_\w+$/m);
    await guide.run('client.tgz');
    await guide.save('webhooks.verify');
    const stop = await start('/receiver.mjs', 'first');
    expect(await guide.run('webhooks test')).toContain('The receiver accepted it with 204.');
    expect(await guide.printedBy('first')).toContain('webhook_endpoint.test');
    await guide.run('intents simulate');
    const id = /pi_\w+/.exec(await guide.terminal.run('echo $ID'))?.[0] ?? '';
    for (const type of ['created', 'pending', 'confirmed', 'finalized'])
      await until(type, async () => (await guide.printedBy('first')).includes(`intent.${type} ${id}\n`));
    const attempts = guide.next('webhooks attempts');
    // A delivery is recorded after the receiver has printed it.
    const tried = await until('four deliveries', async () => {
      const printed = await guide.terminal.run(attempts);
      return printed.match(new RegExp(`delivered +204 .+:${ports[0]}/`, 'g'))?.length === 4 && printed;
    });
    expect(tried).toMatch(/^1 +.+ 204 +\d+ +–$/m);

    // The receiver knows the former secret only.
    expect(await guide.run('rotate-secret')).toContain('The receiver accepted it with 204.');
    stop();
    await until('it to be gone', isGone);
    await start('/receiver.mjs', 'second');
    expect(await guide.run('webhooks resend')).toMatch(/is sent to .+ again, as attempt 2/);
    await until('it to come again', async () => (await guide.printedBy('second')).includes(id));
    expect(await guide.run('webhooks replay --since')).toMatch(/^whr_\w+ has started/m);
    expect(await guide.run('webhooks replays')).toMatch(/^whr_\w+ +(counting|sending|completed) /m);

    await guide.save('svix');
    await guide.run('webhooks create');
    await start('/other-receiver.mjs', 'other', 1);
    expect(await guide.run('webhooks replay --since')).toMatch(/^whr_\w+ has started/m);
    for (const type of ['created', 'finalized'])
      await until(type, async () => (await guide.printedBy('other')).includes(`intent.${type} ${id}\n`), 60_000);
    const received = (await guide.printedBy('other')).split('\n').filter((line) => line.includes(id));
    expect(received.sort()).toEqual([`intent.created ${id}`, `intent.finalized ${id}`]);
    const removed = await guide.run('-X DELETE');
    expect(removed.match(/"removed":true/g)).toHaveLength(2);
    expect(guide.left).toEqual([]);
  }, 400_000);
});
