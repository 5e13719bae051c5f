import { newIntentId } from '@pf/contracts';
import {
  changeSettings,
  createAccount,
  createPaymentLink,
  type Database,
  inTransaction,
  type SettingsChange,
} from '@pf/database';

/** Who changes settings in tests. */
export const BY = {
  kind: 'operator',
  id: null,
  name: 'test',
  address: null,
  userAgent: null,
  requestId: null,
} as const;

/** An account with an intent. */
export interface Shop {
  readonly accountId: string;
  readonly intentId: string;
}

/** Creates an account with an intent, as the writer projects it. */
export async function openShop(database: Database, name: string, settings?: SettingsChange): Promise<Shop> {
  const { id: accountId } = await createAccount(database, { name });
  if (settings) await changeSettings(database, { ...settings, accountId, at: new Date() }, BY);
  return { accountId, intentId: await addIntent(database, accountId) };
}

/** Only the id and the account have a meaning here: this service reads nothing else of an intent. */
export async function addIntent({ prisma }: Pick<Database, 'prisma'>, accountId: string): Promise<string> {
  const id = newIntentId(0);
  const at = new Date();
  await prisma.intent.create({
    data: {
      id,
      accountId,
      partition: 0,
      version: 1,
      livemode: false,
      status: 'created',
      chain: 'eip155:84532',
      token: 'USDC',
      tokenAddress: '0x',
      amountBaseUnits: 1,
      requestor: '0x',
      direction: 'requestor_to_fulfiller',
      reference: '0x',
      createdAt: at,
      updatedAt: at,
      expiresAt: at,
      state: '{}',
    },
  });
  return id;
}

/** A payment link of an account. */
export async function addLink(database: Database, accountId: string): Promise<string> {
  const { id } = await inTransaction(database, (client) =>
    createPaymentLink(
      client,
      { accountId: accountId as never, livemode: false },
      { amount: '1', offers: [], ttlSeconds: 600, metadata: null },
      new Date(),
    ),
  );
  return id;
}
