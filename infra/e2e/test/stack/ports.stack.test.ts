import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';

const PAGE = path.join(import.meta.dirname, '../../../../docs/operations/ports.md');
/** 127.0.0.1 as the kernel writes it, by itself and as an IPv6 address. */
const LOOPBACK = ['0100007F', '0000000000000000FFFF00000100007F'];
/** The state of a socket that listens. */
const LISTENS = '0A';

interface Socket {
  readonly address: string;
  readonly port: number;
}

/** All sockets on this machine that listen on TCP, by their inodes. */
function listeningSockets(): ReadonlyMap<string, Socket> {
  const lines = ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1),
  );
  return new Map(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === LISTENS)
      .map(([, local = '', , , , , , , , inode = '']) => {
        const [address = '', port = ''] = local.split(':');
        return [inode, { address, port: Number.parseInt(port, 16) }];
      }),
  );
}

/** What a process has that may have ended by now: nothing then. */
function readOr<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return nothing;
    throw error;
  }
}

/** The process and all that it has started. */
function withChildren(pid: number): number[] {
  const tasks = readOr(() => readdirSync(`/proc/${pid}/task`), []);
  const children = tasks.flatMap((task) =>
    readOr(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'), '')
      .split(' ')
      .filter((text) => text !== ''),
  );
  return [pid, ...children.flatMap((child) => withChildren(Number(child)))];
}

function socketsOf(pid: number, all: ReadonlyMap<string, Socket>): Socket[] {
  const folder = `/proc/${pid}/fd`;
  return readOr(() => readdirSync(folder), []).flatMap((name) => {
    const inode = /^socket:\[(\d+)\]$/.exec(readOr(() => readlinkSync(path.join(folder, name)), ''))?.[1];
    const socket = inode === undefined ? undefined : all.get(inode);
    return socket ? [socket] : [];
  });
}

describe('the listening ports of a running stack', () => {
  const stack = readStack();
  const all = listeningSockets();
  const found = Object.entries(stack.pids).flatMap(([process, pid]) =>
    withChildren(pid)
      .flatMap((one) => socketsOf(one, all))
      .map((socket) => ({ process, ...socket })),
  );

  it('are those of docs/operations/ports.md', () => {
    const shift = Number(new URL(stack.baseUrl).port) - 4000;
    const section = readFileSync(PAGE, 'utf8').split('## On one machine')[1] ?? '';
    const documented = [...section.matchAll(/^\| (\w+) +\| (\d+) \|/gm)].map(
      ([, process, port]) => `${process} ${port}`,
    );
    // Children inherit sockets.
    expect([...new Set(found.map(({ process, port }) => `${process} ${port - shift}`))].sort()).toEqual(
      documented.sort(),
    );
  });

  it('are on the loopback interface only', () => {
    expect(found.filter(({ address }) => !LOOPBACK.includes(address))).toEqual([]);
  });
});
