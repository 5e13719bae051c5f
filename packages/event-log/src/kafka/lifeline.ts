import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** Brokers close connections that nothing used for minutes: no work depends on one of them. */
const IDLE_MS = 60_000;

/**
 * The connections of one client. When one of them is lost, all are, and work in progress ends: the library would
 * connect again by itself and go on, with another coordinator, in the middle of a transaction.
 */
export class Lifeline {
  readonly #sockets = new Set<Socket>();
  /** How the work in progress fails. */
  readonly #working = new Set<(lost: Error) => void>();
  #isCut = false;

  get isCut(): boolean {
    return this.#isCut;
  }

  over(connect: ISocketFactory): ISocketFactory {
    return (parameters) => {
      let connected = false;
      let heard = performance.now();
      const socket = connect({
        ...parameters,
        onConnect: () => {
          connected = true;
          parameters.onConnect();
        },
      });
      this.#sockets.add(socket);
      socket.on('data', () => (heard = performance.now()));
      socket.once('close', () => {
        this.#sockets.delete(socket);
        if (connected && performance.now() - heard < IDLE_MS) this.#end();
      });
      if (this.#isCut) socket.destroy(new Error('A connection of this client was lost.'));
      return socket;
    };
  }

  /** The result of the work. @throws Error as soon as a connection is lost; what the work did until then is unknown */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    // No race with a promise of the connections: it would keep something of every work as long as they last.
    if (this.#isCut) throw lost();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#working.add(reject);
    try {
      work().then(resolve, reject);
      return await promise;
    } finally {
      this.#working.delete(reject);
    }
  }

  /** Lets the client connect again. */
  repair(): void {
    this.#isCut = false;
  }

  #end(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    // With an error: the library does not notice that a socket was closed without one, and would wait for responses.
    for (const socket of this.#sockets) socket.destroy(new Error('Another connection of this client was lost.'));
    for (const fail of this.#working) fail(lost());
  }
}

const lost = (): Error => new Error('The connection to a broker was lost.');
