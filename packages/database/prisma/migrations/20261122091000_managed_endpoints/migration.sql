-- What the account says about a URL. Without event types it gets all of them.
-- AlterTable
ALTER TABLE "service"."webhook_endpoints" ADD COLUMN "name" TEXT,
ADD COLUMN "event_types" TEXT[],
ADD COLUMN "paused_at" TIMESTAMPTZ(3),
ADD COLUMN "api_version" TEXT NOT NULL DEFAULT '2026-11-21';

-- A secret of one URL; without a URL it signs for all of the account and mode that have none of their own.
-- AlterTable
ALTER TABLE "service"."webhook_secrets" ADD COLUMN "endpoint_id" TEXT;

-- What a process that starts must be able to decrypt: its keys are those of the others.
-- CreateTable
CREATE TABLE "service"."secrets_canary" (
    "id" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secrets_canary_pkey" PRIMARY KEY ("id")
);
