-- CreateTable
CREATE TABLE "ledger"."cold_intents" (
    "id" TEXT NOT NULL,
    "partition" SMALLINT NOT NULL,
    "version" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "digest" BYTEA NOT NULL,
    "bundle" TEXT NOT NULL,
    "first_byte" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "key" BYTEA NOT NULL,

    CONSTRAINT "cold_intents_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "cold_intents_by_account" ON "ledger"."cold_intents"("account_id", "livemode", "created_at");
