import { upstreamVariables } from '@pf/chains';
import { type Shard, SHARDS_MAX } from '@pf/database';
import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';
import { screeningVariables } from '@pf/screening';
import { z } from 'zod';

const KEY_BYTES = 32;
/** `eip155:84532=<base64>`: the key with which what is observed of a network is signed. */
const observationKeys = variables.list.transform((entries, context): ReadonlyMap<string, Buffer> => {
  const keys = new Map<string, Buffer>();
  for (const entry of entries) {
    const [, chain, text] = /^([^=]+)=(.+)$/.exec(entry) ?? [];
    const key = text !== undefined && z.base64().safeParse(text).success ? Buffer.from(text, 'base64') : null;
    if (chain === undefined || key?.length !== KEY_BYTES)
      context.addIssue({
        code: 'custom',
        message: 'must be networks with their keys of 32 bytes in base64, such as eip155:84532=…, comma-separated',
      });
    else keys.set(chain, key);
  }
  return keys;
});

/** Every variable of this service; the deployments are checked against it. */
export const watcherVariables = {
  ...telemetryVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  ...kafkaVariables,
  ...upstreamVariables,
  ...screeningVariables,
  /** CAIP-2 ids, comma-separated. */
  NETWORKS: variables.list,
  /** The key of each of these, with which its observations are signed: it follows from OBSERVATION_SECRET. */
  OBSERVATION_KEYS: observationKeys,
  /** How long an intent is watched after it was settled, failed, expired or cancelled. */
  WATCH_DAYS: z.coerce.number().min(0).max(3_650).default(30),
  /** How long deposits to a wallet are looked for after its last intent has ended, if they are. */
  WALLET_DAYS: z.coerce.number().min(0).max(3_650).default(365),
  /** How often what arrived in one wallet of a network is compared with the ledger, where DEPOSITS is on; 0: never. */
  WALLET_CHECK_SECONDS: z.coerce.number().min(0).max(86_400).default(600),
  /** Whether transfers that pay no intent are reported as deposits. Earlier versions cannot read those in the log. */
  DEPOSITS: variables.flag,
  /** How long after a watcher was killed another one takes over its networks. */
  WATCH_LEASE_SECONDS: z.coerce.number().min(1).max(300).default(10),
  /** Which shard of the recipients of its networks this process watches, of how many: `2/4`. */
  WATCH_SHARD: z
    .string()
    .regex(/^\d{1,2}\/\d{1,2}$/, 'must be a shard and their number, such as 2/4')
    .default('1/1')
    .transform((text): Shard => {
      const [index = 0, count = 0] = text.split('/').map(Number);
      return { index, count };
    })
    .refine(({ index, count }) => index >= 1 && index <= count && count <= SHARDS_MAX, {
      error: `must be between 1/1 and ${SHARDS_MAX}/${SHARDS_MAX}, and the shard one of so many`,
    }),
  HEALTH_PORT: variables.port,
} as const;
