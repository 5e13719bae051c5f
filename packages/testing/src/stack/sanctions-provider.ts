import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import { z } from 'zod';

/** How the provider responds. */
export const PROVIDER_MODES = ['up', 'down', 'hang', 'error', 'garbage', 'limited'] as const;
export type ProviderMode = (typeof PROVIDER_MODES)[number];
const order = z.strictObject({ mode: z.enum(PROVIDER_MODES) });

export interface SanctionsProviderOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly apiKey: string;
  /** EVM addresses in any case. */
  readonly sanctioned: readonly string[];
  /** ms until a response. */
  readonly latencyMs?: number;
}

/** A stand-in for Chainalysis' sanctions API: the same path, header and responses, and a switch for failures. */
export interface SanctionsProvider {
  readonly url: string;
  mode: ProviderMode;
  /** The addresses of authorized requests, as in the path. */
  readonly queriedAddresses: string[];
  close(): Promise<void>;
}

const lower = (address: string): string => (address.startsWith('0x') ? address.toLowerCase() : address);

export async function startSanctionsProvider({
  port = 0,
  apiKey,
  sanctioned,
  latencyMs = 0,
}: SanctionsProviderOptions): Promise<SanctionsProvider> {
  const listed = new Set(sanctioned.map(lower));
  const queriedAddresses: string[] = [];
  let mode: ProviderMode = 'up';
  const app = express().disable('x-powered-by');

  app.use((request, response, next) => {
    const key = request.get('x-api-key');
    if (key === undefined) response.status(401).json({ message: 'Unauthorized' });
    else if (key !== apiKey) response.status(403).json({ message: 'Forbidden' });
    else next();
  });
  app.get('/api/v1/address/:address', (request, response) => {
    const { address } = request.params;
    queriedAddresses.push(address);
    misbehave(mode, request, response, () =>
      setTimeout(() => response.json(responseFor(listed.has(lower(address)), address)), latencyMs),
    );
  });
  addSwitch(
    app,
    () => mode,
    (next) => (mode = next),
  );
  app.use((_request, response) => void response.status(404).json({ message: 'Not Found' }));

  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
    },
    queriedAddresses,
    close: () => closed(server),
  };
}

const responseFor = (isListed: boolean, address: string) => ({
  identifications: isListed
    ? [
        {
          category: 'sanctions',
          name: `SANCTIONS: LOCAL TEST ENTITY ${address}`,
          description: 'Not a real identification: this provider belongs to a local stack.',
          url: 'https://example.org/sanctions',
        },
      ]
    : [],
});

function misbehave(mode: ProviderMode, request: Request, response: Response, respond: () => void): void {
  switch (mode) {
    case 'up':
      return respond();
    case 'down':
      return void request.socket.destroy();
    case 'hang':
      return;
    case 'error':
      return void response.status(500).json({ message: 'Internal Server Error' });
    case 'garbage':
      return void response.type('json').send('{"identifications":');
    case 'limited':
      return void response.status(429).set('Retry-After', '7').json({ message: 'Too Many Requests' });
    default:
      return mode satisfies never;
  }
}

/** GET and PUT /switch: not part of the real API. */
function addSwitch(app: Express, current: () => ProviderMode, turn: (mode: ProviderMode) => void): void {
  app.get('/switch', (_request, response) => void response.json({ mode: current() }));
  app.put('/switch', express.json(), (request, response) => {
    const parsed = order.safeParse(request.body);
    if (!parsed.success)
      return void response.status(400).json({ message: `mode is one of ${PROVIDER_MODES.join(', ')}` });
    turn(parsed.data.mode);
    response.json({ mode: current() });
  });
}

async function closed(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
