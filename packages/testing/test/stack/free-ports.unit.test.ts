import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { freePorts } from '../../src/stack/free-ports.ts';

it('are each chosen once, by all processes that choose at a time, before a program listens', async () => {
  const module = JSON.stringify(new URL('../../src/stack/free-ports.ts', import.meta.url).href);
  // Both begin at the same port, as processes do by chance.
  const chooses = `Math.random = () => 0.5; console.log(JSON.stringify(await (await import(${module})).freePorts(20)));
    await new Promise((resolve) => process.stdin.once('data', resolve)); process.exit();`;
  const processes = [1, 2].map(() => spawn(process.execPath, ['--input-type=module', '-e', chooses]));
  const chosen = processes.map(async ({ stdout }) => {
    const [line] = (await once(stdout, 'data')) as [Buffer];
    return JSON.parse(line.toString()) as readonly number[];
  });
  const errors = processes.map(({ stderr }) => text(stderr));
  const ports = (await Promise.all(chosen)).flat();
  for (const { stdin } of processes) stdin.end('end');
  await Promise.all(processes.map((one) => once(one, 'exit')));
  expect(await Promise.all(errors)).toEqual(['', '']);
  expect(new Set(ports).size).toBe(40);
});

it('can be listened on', async () => {
  const [port = 0] = await freePorts(1);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  await once(server.close(), 'close');
});
