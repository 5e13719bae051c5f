import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect } from '@jest/globals';
import { until } from '@pf/testing';
import type { Attempt } from './client-process.ts';

const WORKS: Attempt = { kept: 'works', fresh: 'works' };
/** Attempts that a client makes while nothing is changed, and after each change. */
const ATTEMPTS = 3;

/** A process with one kept connection to a server, and a new one for each attempt. */
export class Client {
  readonly #process: ChildProcess;

  /** @param authorities the file with the certificates that it trusts, as NODE_EXTRA_CA_CERTS */
  constructor(authorities: string) {
    this.#process = fork(path.join(import.meta.dirname, 'client-process.ts'), {
      execArgv: ['--conditions=source', '--import', 'tsx'],
      env: { PATH: process.env['PATH'], NODE_NO_WARNINGS: '1', NODE_EXTRA_CA_CERTS: authorities },
    });
  }

  async attempt(url: string): Promise<Attempt> {
    const answered = once(this.#process, 'message') as Promise<[Attempt]>;
    this.#process.send(url);
    return (await answered)[0];
  }

  /** Waits until it has a connection: on a busy machine a process that starts connects too late. */
  async connect(url: string): Promise<void> {
    await until('the client to connect', async () => {
      expect(await this.attempt(url)).toEqual(WORKS);
      return true;
    });
  }

  /** Goes on with attempts until the change has been made and some more have followed. @returns those that failed */
  async failuresDuring(url: string, change: () => Promise<void>): Promise<readonly Attempt[]> {
    await this.connect(url);
    const attempts: Attempt[] = [];
    let left = ATTEMPTS;
    let isChanged = false;
    const changed = change().then(() => (isChanged = true));
    do {
      attempts.push(await this.attempt(url));
      if (isChanged) left--;
    } while (left > 0);
    await changed;
    return attempts.filter(({ kept, fresh }) => kept !== 'works' || fresh !== 'works');
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
