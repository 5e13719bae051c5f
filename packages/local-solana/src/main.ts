#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from 'commander';
import { DEVNET_GENESIS } from './options.ts';
import { startNode } from './node.ts';

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`A whole number from ${least} to ${most} is wanted.`);
    return value;
  };
}
const number = (flags: string, text: string, fallback: number, least: number, most: number): Option =>
  new Option(flags, text).default(fallback).argParser(whole(least, most));

const { ledger, genesisHash, ...options } = new Command('local-solana')
  .description(
    'A local Solana: the JSON-RPC of a node around the real runtime, with controls to drop, expire, fail and finalize.',
  )
  .addOption(
    number(
      '--port <port>',
      'port of HTTP and WebSocket; WebSockets are served on the next one, too; 0: a free one',
      8_899,
      0,
      65_534,
    ),
  )
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--ledger <folder>', 'keep the ledger here; without it, all is gone when the process ends')
  .addOption(number('--slot-ms <milliseconds>', 'length of a slot', 200, 10, 60_000))
  .addOption(number('--finality-slots <slots>', 'slots until a block is final', 4, 1, 10_000))
  .option('--paused', 'the clock stands still: slots come by local_advance', false)
  .option('--genesis-hash <base58>', `returned by getGenesisHash (default: devnet's, ${DEVNET_GENESIS})`)
  .parse()
  .opts<{
    port: number;
    host: string;
    ledger?: string;
    slotMs: number;
    finalitySlots: number;
    paused: boolean;
    genesisHash?: string;
  }>();

try {
  const node = await startNode({
    ...options,
    ...(ledger !== undefined && { ledger }),
    ...(genesisHash !== undefined && { genesisHash }),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void node.stop());
  console.log(`Listening on ${node.url}`);
} catch (error) {
  // Nothing runs yet: the message tells the user why.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
