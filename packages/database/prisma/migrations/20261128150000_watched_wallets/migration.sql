-- Wallets are watched for deposits long after the intents that named them have ended, and left the database.
-- CreateTable
CREATE TABLE "service"."watched_wallets" (
    "chain" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "watched_wallets_pkey" PRIMARY KEY ("chain","recipient","account_id")
);

-- CreateIndex
CREATE INDEX "watched_wallets_by_end" ON "service"."watched_wallets"("chain", "until");
