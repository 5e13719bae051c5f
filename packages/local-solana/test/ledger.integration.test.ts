import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
} from '@solana/web3.js';
import { base58 } from '@scure/base';
import { startNode, wallets } from '../src/index.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface Process {
  readonly url: string;
  readonly child: ChildProcess;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}
/** Runs the command line as users and the stack do. */
async function run(...flags: string[]): Promise<Process> {
  const child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    url: line.replace('Listening on ', ''),
    child,
    end: async (signal) => {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

describe('the local Solana process', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'local-solana-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const payer = Keypair.fromSecretKey(base58.decode(wallets[0]?.privateKey ?? ''));

  it('serves web3.js 1.x and loses nothing when it is killed', async () => {
    const flags = ['--port', '0', '--ledger', path.join(folder, 'kept'), '--slot-ms', '100', '--finality-slots', '3'];
    const first = await run(...flags);
    const connection = new Connection(first.url, 'confirmed');
    const to = Keypair.generate().publicKey;
    const heard = Promise.withResolvers<number>();
    const listener = connection.onAccountChange(to, ({ lamports }) => heard.resolve(lamports));
    const signature = await sendAndConfirmTransaction(
      connection,
      new Transaction().add(
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: LAMPORTS_PER_SOL }),
      ),
      [payer],
    );
    expect(await heard.promise).toBe(LAMPORTS_PER_SOL);
    await connection.removeAccountChangeListener(listener);
    // web3.js keeps its socket half a second longer, and would try to reconnect forever.
    (connection as unknown as { _rpcWebSocket: { close(): void } })._rpcWebSocket.close();
    const before = {
      slot: await connection.getSlot('processed'),
      genesis: await connection.getGenesisHash(),
      transaction: await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 }),
    };
    await first.end('SIGKILL');

    const second = await run(...flags);
    const again = new Connection(second.url, 'finalized');
    expect(await again.getBalance(to)).toBe(LAMPORTS_PER_SOL);
    expect(await again.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })).toEqual(
      before.transaction,
    );
    expect(await again.getSignaturesForAddress(to)).toMatchObject([{ signature, confirmationStatus: 'finalized' }]);
    expect(await again.getSlot('processed')).toBeGreaterThan(before.slot);
    expect(await again.getGenesisHash()).toBe(before.genesis);
    expect(
      (
        await again.getTokenAccountsByOwner(payer.publicKey, {
          mint: new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
        })
      ).value,
    ).toHaveLength(1);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  it('still accepts its earlier blockhashes after a quick restart', async () => {
    const options = { ledger: path.join(folder, 'soon'), paused: true };
    const first = await startNode(options);
    const { blockhash } = await new Connection(first.url, 'processed').getLatestBlockhash();
    await first.stop();
    const second = await startNode(options);
    try {
      expect(await new Connection(second.url, 'processed').isBlockhashValid(blockhash)).toMatchObject({ value: true });
    } finally {
      await second.stop();
    }
  });

  it('rejects the ledger of another chain', async () => {
    const ledger = path.join(folder, 'other');
    await (await startNode({ ledger })).stop();
    await expect(startNode({ ledger, genesisHash: wallets[0]?.address ?? '' })).rejects.toThrow(
      'Give it a folder of its own',
    );
  });

  it('names an unknown option or a port in use in one line', async () => {
    const said = async (...flags: string[]): Promise<readonly [unknown, string]> => {
      const child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
      let text = '';
      child.stderr.on('data', (chunk) => (text += String(chunk)));
      const [code] = (await once(child, 'close')) as [number];
      return [code, text];
    };
    expect(await said('--slot-ms', 'soon')).toEqual([
      1,
      expect.stringContaining('A whole number from 10 to 60000 is wanted.'),
    ]);
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const [code, text] = await said('--port', String(port));
    taken.close();
    expect(code).toBe(1);
    expect(text.trim().split('\n')).toEqual([expect.stringContaining(`${port} is taken`)]);
  });
});
