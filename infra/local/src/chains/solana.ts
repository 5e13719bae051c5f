import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { callRpc } from '@pf/rpc/client';
import { CHAINS } from './chains.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';

/** As those of devnet and mainnet since 2026. */
const SLOT_MS = 200;
/** Slots until a slot is finalized: 3.2 s. With Alpenglow a slot is final at once, without it after some 13 s. */
const FINALITY_SLOTS = 16;

/** The local Solana: a node's JSON-RPC around the real runtime, which keeps its ledger in the data folder. */
export function solanaSpec(settings: Settings): { spec: ProcessSpec; url: string } {
  const main = fileURLToPath(new URL('../../../../packages/local-solana/src/main.ts', import.meta.url));
  const port = settings.ports.solana;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    spec: {
      name: 'solana',
      label: `${CHAINS.solana.label} (litesvm)`,
      ports: ['solana', 'solanaWebSocket'],
      stopSignal: 'SIGTERM',
      orphanSignal: 'SIGTERM',
      stopMs: 10_000,
      jsonLogs: false,
      stuck: async () => false,
      prepare: async () => undefined,
      command: () => ({
        file: process.execPath,
        args: [
          '--disable-warning=ExperimentalWarning',
          main,
          '--host',
          settings.chainsHost,
          '--port',
          String(port),
          '--ledger',
          path.join(settings.data, 'chains', 'solana'),
          '--slot-ms',
          String(SLOT_MS),
          '--finality-slots',
          String(FINALITY_SLOTS),
        ],
      }),
      ready: async () => (await callRpc(url, 'getHealth')) === 'ok',
    },
  };
}
