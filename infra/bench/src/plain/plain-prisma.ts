import { openDatabase } from '@pf/database';
import { plainService, type PlainStore, preparePlainTable } from './plain-service.ts';

/** Express + Prisma, as its documentation shows it. */
const database = openDatabase({
  url: process.env['DATABASE_URL'] ?? '',
  applicationName: 'plain-prisma',
  maxConnections: 16,
});
await preparePlainTable(database);
const { prisma } = database;

/** Prisma's code for a broken unique index. */
const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === 'P2002';

const store: PlainStore = {
  async findKey(hash) {
    const key = await prisma.apiKey.findUnique({
      where: { hash: Uint8Array.from(hash), revokedAt: null },
      include: { account: true },
    });
    return key && { accountId: key.accountId, livemode: key.livemode };
  },
  async insert(intent) {
    try {
      await prisma.intent.create({ data: { ...intent, partition: 0, version: 1, updatedAt: intent.createdAt } });
      return 'inserted';
    } catch (error) {
      if (isDuplicate(error)) return 'duplicate';
      throw error;
    }
  },
  findByKey: ({ accountId, livemode }, idempotencyKey) =>
    prisma.intent.findFirst({ where: { accountId, livemode, idempotencyKey }, select: { state: true } }),
  find: ({ accountId, livemode }, id) =>
    prisma.intent.findFirst({ where: { id, accountId, livemode }, select: { state: true } }),
  list: ({ accountId, livemode }, limit) =>
    prisma.intent.findMany({
      where: { accountId, livemode },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
      select: { state: true },
    }),
};
plainService(store).listen(Number(process.env['PORT']), '127.0.0.1');
