-- CreateTable
CREATE TABLE "ledger"."deposits" (
    "id" TEXT NOT NULL,
    "partition" SMALLINT NOT NULL,
    "version" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "chain" TEXT NOT NULL,
    "token_address" TEXT,
    "amount_base_units" DECIMAL(78,0) NOT NULL,
    "recipient" TEXT NOT NULL,
    "sender" TEXT,
    "tx_signature" TEXT NOT NULL,
    "level" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "intent_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "document" TEXT NOT NULL,

    CONSTRAINT "deposits_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deposits_by_account" ON "ledger"."deposits"("account_id", "livemode", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deposits_by_state" ON "ledger"."deposits"("account_id", "livemode", "state", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deposits_by_recipient" ON "ledger"."deposits"("account_id", "livemode", "recipient", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deposits_by_token" ON "ledger"."deposits"("account_id", "livemode", "token_address", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deposits_by_tx_signature" ON "ledger"."deposits"("tx_signature", "created_at" DESC, "id" DESC);

-- CreateIndex
-- What is not final: few at any time. Watchers load them.
CREATE INDEX "deposits_unfinished" ON "ledger"."deposits"("chain") WHERE "level" = 'confirmed';
