-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "ledger";

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "service";

-- CreateTable
CREATE TABLE "ledger"."intents" (
    "id" TEXT NOT NULL,
    "partition" SMALLINT NOT NULL,
    "version" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "token_address" TEXT NOT NULL,
    "amount_base_units" DECIMAL(20,0) NOT NULL,
    "requestor" TEXT NOT NULL,
    "fulfiller" TEXT,
    "direction" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "tx_signature" TEXT,
    "idempotency_key" TEXT,
    "metadata" JSONB,
    "refund_of" TEXT,
    "refunded_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,

    CONSTRAINT "intents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger"."intent_events" (
    "intent_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "event_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "intent_events_pkey" PRIMARY KEY ("intent_id","version")
);

-- CreateTable
CREATE TABLE "ledger"."checkpoints" (
    "partition" SMALLINT NOT NULL,
    "position" BIGINT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkpoints_pkey" PRIMARY KEY ("partition")
);

-- CreateTable
CREATE TABLE "service"."accounts" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "plan" TEXT NOT NULL DEFAULT 'free',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service"."api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "hint" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "scope" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service"."webhook_secrets" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service"."webhook_endpoints" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "url" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_by" TEXT,

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service"."deliveries" (
    "id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "event_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "intent_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "url" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "response_status" INTEGER,
    "response_body" TEXT,
    "error" TEXT,
    "traceparent" TEXT,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "first_attempt_at" TIMESTAMPTZ(3),
    "last_attempted_at" TIMESTAMPTZ(3),
    "next_attempt_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),
    "failed_at" TIMESTAMPTZ(3),

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service"."webhook_positions" (
    "partition" SMALLINT NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "webhook_positions_pkey" PRIMARY KEY ("partition")
);

-- CreateTable
CREATE TABLE "service"."command_outcomes" (
    "command_id" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "command_outcomes_pkey" PRIMARY KEY ("command_id")
);

-- CreateTable
CREATE TABLE "service"."signed_transactions" (
    "hash" TEXT NOT NULL,
    "intent_id" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "signed_transactions_pkey" PRIMARY KEY ("intent_id","hash")
);

-- CreateTable
CREATE TABLE "service"."network_watches" (
    "chain" TEXT NOT NULL,
    "holder" TEXT,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "cursor" JSONB,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "network_watches_pkey" PRIMARY KEY ("chain")
);

-- CreateIndex
CREATE INDEX "intents_by_key" ON "ledger"."intents"("account_id", "livemode", "idempotency_key", "created_at" DESC) WHERE "idempotency_key" IS NOT NULL;

-- CreateIndex
CREATE INDEX "intents_open_by_expiry" ON "ledger"."intents"("partition", "expires_at") WHERE "status" IN ('created', 'pending');

-- CreateIndex
CREATE INDEX "intents_watched" ON "ledger"."intents"("chain", "closed_at");

-- CreateIndex
CREATE INDEX "intents_by_account" ON "ledger"."intents"("account_id", "livemode", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "service"."api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_account_id_idx" ON "service"."api_keys"("account_id");

-- CreateIndex
CREATE INDEX "webhook_secrets_account_id_livemode_valid_from_idx" ON "service"."webhook_secrets"("account_id", "livemode", "valid_from" DESC);

-- CreateIndex
CREATE INDEX "webhook_endpoints_account_id_livemode_idx" ON "service"."webhook_endpoints"("account_id", "livemode");

-- CreateIndex
CREATE INDEX "deliveries_by_account" ON "service"."deliveries"("account_id", "livemode", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deliveries_due" ON "service"."deliveries"("next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "deliveries_event_id_endpoint_id_key" ON "service"."deliveries"("event_id", "endpoint_id");

-- CreateIndex
CREATE INDEX "command_outcomes_at_idx" ON "service"."command_outcomes"("at");

-- CreateIndex
CREATE INDEX "signed_transactions_chain_hash_idx" ON "service"."signed_transactions"("chain", "hash");

-- AddForeignKey
ALTER TABLE "service"."api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service"."webhook_secrets" ADD CONSTRAINT "webhook_secrets_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service"."webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service"."deliveries" ADD CONSTRAINT "deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "service"."webhook_endpoints"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


