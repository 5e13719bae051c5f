-- The amounts of intents that plain transfers pay: no two of one wallet have the same.
-- CreateTable
CREATE TABLE "service"."reserved_amounts" (
    "intent_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "chain" TEXT NOT NULL,
    "token_address" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "amount_base_units" DECIMAL(78,0) NOT NULL,
    "reserved_at" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "deposit_id" TEXT,
    "deposit_version" INTEGER,
    "due_at" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "reserved_amounts_pkey" PRIMARY KEY ("intent_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "reserved_amounts_once" ON "service"."reserved_amounts"("account_id", "livemode", "chain", "token_address", "recipient", "amount_base_units");

-- CreateIndex
CREATE INDEX "reserved_amounts_by_end" ON "service"."reserved_amounts"("until");

-- CreateIndex
-- What has been paid and is to be assigned: few at any time. Gateways ask for them twice a second.
CREATE INDEX "reserved_amounts_due" ON "service"."reserved_amounts"("due_at") WHERE "due_at" IS NOT NULL;
