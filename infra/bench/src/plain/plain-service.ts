import { createHash, randomBytes } from 'node:crypto';
import { createIntentRequest, listIntentsQuery, newIntentId, parseRequest, randomPartition } from '@pf/contracts';
import type { Database } from '@pf/database';
import { parseAmount } from '@pf/domain';
import express, { type Express, type Request, type Response } from 'express';
import { getAddress } from 'viem';

/** Whose key it is. */
export interface PlainHolder {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** A row of the table, as both libraries take it. */
export interface PlainIntent {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly idempotencyKey: string | null;
  readonly status: string;
  readonly chain: string;
  readonly token: string;
  readonly tokenAddress: string;
  readonly amountBaseUnits: string;
  readonly requestor: string;
  readonly direction: string;
  readonly reference: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The public intent as JSON. */
  readonly state: string;
}

/** What a plain service stores with; each of the two does it with its own library. */
export interface PlainStore {
  findKey(hash: Buffer): Promise<PlainHolder | null>;
  /** Inserts durably. Null where the account used the key before: the unique index says so. */
  insert(intent: PlainIntent): Promise<'inserted' | 'duplicate'>;
  findByKey(holder: PlainHolder, idempotencyKey: string): Promise<PlainRow | null>;
  find(holder: PlainHolder, id: string): Promise<PlainRow | null>;
  /** The newest ones first. */
  list(holder: PlainHolder, limit: number): Promise<readonly PlainRow[]>;
}

/** The public intent as JSON. */
export interface PlainRow {
  readonly state: string;
}

/**
 * The idempotency index of both: what a plain service has in place of a single writer. The table and its other indexes
 * are the projection's.
 */
export async function preparePlainTable(database: Database): Promise<void> {
  await database.sql.query(
    'CREATE UNIQUE INDEX IF NOT EXISTS plain_by_key ON ledger.intents (account_id, livemode, idempotency_key)',
  );
}

const USDC = { symbol: 'USDC', address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', decimals: 6 };

/**
 * What one would write without a log: validate by the same schema and the same checks of amount and address, look the
 * key up, insert under a unique index on the idempotency key, answer with the same body. Reads by id, and the newest
 * page.
 */
export function plainService(store: PlainStore): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(express.json({ limit: '64kb' }));
  app.get('/readyz', (_request: Request, response: Response) => void response.json({ status: 'ok' }));
  const refuse = (response: Response): void => void response.status(401).json({ error: { code: 'api_key.invalid' } });
  const holderOf = async ({ headers }: Request): Promise<PlainHolder | null> => {
    const key = /^Bearer (pk_(?:live|test)_[A-Za-z0-9]{32})$/.exec(headers.authorization ?? '')?.[1];
    return key === undefined ? null : await store.findKey(createHash('sha256').update(key).digest());
  };
  app.get('/v1/intents/:id', async (request: Request<{ id: string }>, response: Response) => {
    const holder = await holderOf(request);
    if (!holder) return refuse(response);
    const row = await store.find(holder, request.params.id);
    if (!row) return void response.status(404).json({ error: { code: 'intent.not_found' } });
    return void response.type('json').send(`{"intent":${row.state}}`);
  });
  app.get('/v1/intents', async (request: Request, response: Response) => {
    const holder = await holderOf(request);
    if (!holder) return refuse(response);
    const parsed = parseRequest(listIntentsQuery, request.query);
    if (!parsed.ok) return void response.status(400).json({ error: { code: 'request.validation_failed' } });
    const rows = await store.list(holder, parsed.value.limit + 1);
    const page = rows.slice(0, parsed.value.limit).map(({ state }) => state);
    return void response.type('json').send(`{"intents":[${page.join()}],"hasMore":${rows.length > page.length}}`);
  });
  app.post('/v1/intents', async (request: Request, response: Response) => {
    const holder = await holderOf(request);
    if (!holder) return refuse(response);
    const parsed = parseRequest(createIntentRequest, request.body);
    if (!parsed.ok)
      return void response
        .status(400)
        .json({ error: { code: 'request.validation_failed', param: parsed.issues[0].param } });
    const { chain, token, amount, requestor, direction, idempotencyKey, ttlSeconds, metadata } = parsed.value;
    const baseUnits = parseAmount(amount, USDC.decimals);
    if (chain !== 'eip155:84532' || token !== USDC.symbol || typeof baseUnits === 'string')
      return void response.status(422).json({ error: { code: 'token.not_available' } });

    const createdAt = new Date();
    const expiresAt = new Date(createdAt.getTime() + ttlSeconds * 1000);
    const intent = {
      id: newIntentId(randomPartition(6)),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      chain,
      token,
      tokenAddress: USDC.address,
      amount,
      amountBaseUnits: baseUnits.toString(),
      requestor: getAddress(requestor),
      fulfiller: null,
      direction,
      state: 'created',
      retryRequired: false,
      pendingAtExpiry: false,
      reference: `0x${randomBytes(32).toString('hex')}`,
      txSignature: null,
      detectedAt: null,
      ataRentLamports: null,
      ttlSeconds,
      expiresAt: expiresAt.toISOString(),
      createdAt: createdAt.toISOString(),
      updatedAt: createdAt.toISOString(),
      confirmedAt: null,
      finalizedAt: null,
      metadata: metadata ?? null,
      refundedBy: null,
      refundOf: null,
      livemode: holder.livemode,
    };
    const { id, tokenAddress, amountBaseUnits, reference } = intent;
    const row = {
      id,
      ...holder,
      idempotencyKey: idempotencyKey ?? null,
      status: 'created',
      chain,
      token,
      tokenAddress,
      amountBaseUnits,
      requestor: intent.requestor,
      direction,
      reference,
      createdAt,
      expiresAt,
    };
    if ((await store.insert({ ...row, state: JSON.stringify(intent) })) === 'inserted')
      return void response.status(201).json({ intent });
    const earlier = await store.findByKey(holder, idempotencyKey ?? '');
    return void response
      .status(200)
      .type('json')
      .send(`{"intent":${earlier?.state ?? 'null'}}`);
  });
  return app;
}
