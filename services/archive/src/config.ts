import { archiveUrl } from '@pf/archive';
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
  /** The SDK of S3 reads them, for an archive in a bucket. Absent where the process has a role. */
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  AWS_REGION: z.string().optional(),
  /** The private key of Ed25519 that signs manifests: 32 bytes in base64. */
  ARCHIVE_SIGNING_KEY: z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length === 32, 'must be 32 bytes in base64'),
  /** How long an event may wait for others of its file: longer makes fewer, larger files. */
  ARCHIVE_FLUSH_SECONDS: z.coerce.number().min(0.1).max(50).default(20),
} as const;
