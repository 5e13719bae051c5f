-- Deliveries that are sent again, many at once: what was asked for, how far it is, and how it went.
-- CreateTable
CREATE TABLE "service"."webhook_replays" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "endpoint_id" TEXT,
    "to_endpoint_id" TEXT,
    "event_types" TEXT[],
    "status" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'counting',
    "cursor_at" TIMESTAMPTZ(3) NOT NULL,
    "cursor_id" TEXT NOT NULL DEFAULT '',
    "total" INTEGER NOT NULL DEFAULT 0,
    "sent" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "delivered" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "read_at" TIMESTAMPTZ(3),
    "looked_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "next_step_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_replays_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_replays_by_account" ON "service"."webhook_replays"("account_id", "livemode", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "webhook_replays_due" ON "service"."webhook_replays"("next_step_at") WHERE "next_step_at" IS NOT NULL;

-- The replay that has sent a delivery last.
-- AlterTable
ALTER TABLE "service"."deliveries" ADD COLUMN "replay_id" TEXT;
