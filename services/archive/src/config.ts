import { archiveUrl, bucketVariables } from '@pf/archive/url';
import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';

/** Every environment variable of this service. Tests check the deployments against it. */
export const archiveVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  HEALTH_PORT: variables.port.default(4009),
  /** Where the archive lies. */
  ARCHIVE_URL: archiveUrl,
  ...bucketVariables,
  /** The private key of Ed25519 that signs manifests: 32 bytes in base64. */
  ARCHIVE_SIGNING_KEY: z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length === 32, 'must be 32 bytes in base64'),
  /**
   * How long an event may wait for others of its file: longer makes fewer, larger files. The rest of the minute that
   * the archive may be behind is for reading the event, and for writing it.
   */
  ARCHIVE_FLUSH_SECONDS: z.coerce.number().min(0.1).max(40).default(20),
  /** The database whose deliveries' outcomes are archived, too: the primary. Absent: they are not. */
  DATABASE_URL: variables.databaseUrl.optional(),
  /** How often it looks for deliveries that have ended: longer makes fewer, larger files. */
  ARCHIVE_DELIVERIES_SECONDS: z.coerce.number().min(0.1).max(3_600).default(300),
} as const;
