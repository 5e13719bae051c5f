import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { Blockhashes } from './blockhashes.ts';
import { Chain } from './chain.ts';
import { newClock, resumedClock, SlotClock } from './clock.ts';
import { genesisAccounts, mintTokens } from './genesis.ts';
import { Ledger } from './ledger.ts';
import { DEVNET_GENESIS, type NodeOptions, type RunningNode } from './options.ts';
import { dispatchTo } from './rpc/dispatcher.ts';
import { httpServer } from './rpc/http.ts';
import type { Node } from './rpc/method.ts';
import { Runtime } from './runtime.ts';
import { serveSubscriptions } from './subscriptions/server.ts';

const clockState = z.object({
  slot: z.number(),
  time: z.number(),
  slotMs: z.number(),
  running: z.boolean(),
  finalFloor: z.number(),
});
const forks = z.array(z.object({ height: z.number(), salt: z.string() }));
const PORT_TRIES = 20;

/** The chain of an existing ledger, or a new one with its genesis. */
async function openChain(
  ledger: Ledger,
  { slotMs = 200, finalitySlots = 4, paused = false, genesisHash }: NodeOptions,
): Promise<{ chain: Chain; genesisHash: string }> {
  const runtime = new Runtime();
  const kept = ledger.fact('clock', clockState);
  const hash = ledger.fact('genesis', z.string()) ?? genesisHash ?? DEVNET_GENESIS;
  if (genesisHash !== undefined && genesisHash !== hash)
    throw new Error(
      `The ledger is of a chain whose genesis is ${hash}, not ${genesisHash}. Give it a folder of its own.`,
    );
  if (kept === null) {
    const accounts = genesisAccounts((bytes) => runtime.rent(bytes));
    ledger.together(() => {
      ledger.setFact('genesis', hash);
      ledger.setFact('forks', [{ height: 0, salt: randomUUID() }]);
      for (const [address, account] of accounts) ledger.setAccount(address, account);
    });
  }
  for (const [address, account] of ledger.accounts()) runtime.setAccount(address, account);
  const state = kept === null ? newClock(slotMs, false) : resumedClock(kept, slotMs, !paused);
  const clock = new SlotClock(state, finalitySlots, (changed) => ledger.setFact('clock', changed));
  const chain = new Chain({ clock, ledger, runtime, blockhashes: new Blockhashes(ledger.fact('forks', forks) ?? []) });
  if (kept === null) {
    await mintTokens(chain);
    clock.finalize();
    if (!paused) clock.resume();
  } else ledger.setFact('clock', state);
  return { chain, genesisHash: hash };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    throw new Error(`Port ${port} is taken. HTTP needs one, and WebSockets this and the next.`, { cause: error });
  }
}
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Listens on a port and the next one; with port 0, on the first such pair that is free. */
async function listenOnPair(first: Server, second: Server, port: number, host: string): Promise<void> {
  for (let tries = PORT_TRIES; ; tries -= 1) {
    await listen(first, port, host);
    try {
      return await listen(second, (first.address() as AddressInfo).port + 1, host);
    } catch (error) {
      // Another process uses the next port: tries another pair, unless the caller chose the port.
      await close(first);
      if (port !== 0 || tries === 0) throw error;
    }
  }
}

/** Starts a node in this process. @throws Error when a port is in use, or the ledger belongs to another chain */
export async function startNode(options: NodeOptions = {}): Promise<RunningNode> {
  const { port = 0, host = '127.0.0.1' } = options;
  const ledger = new Ledger(options.ledger ?? null);
  const node: Node = { ...(await openChain(ledger, options)), slotsBehind: 0 };
  const dispatch = dispatchTo(node);
  const [http, neighbour] = [httpServer(dispatch), httpServer(dispatch)];
  const subscriptions = serveSubscriptions(node, [http, neighbour]);
  try {
    await listenOnPair(http, neighbour, port, host);
  } catch (error) {
    ledger.close();
    throw error;
  }
  const bound = (http.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    stop: async () => {
      subscriptions.stop();
      await Promise.all([close(http), close(neighbour)]);
      ledger.close();
    },
  };
}
