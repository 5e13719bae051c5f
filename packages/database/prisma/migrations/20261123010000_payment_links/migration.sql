-- Several ways to pay one amount, and the intents that payers have begun.
-- CreateTable
CREATE TABLE "service"."payment_links" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "amount" TEXT NOT NULL,
    "offers" JSONB NOT NULL,
    "ttl_seconds" INTEGER NOT NULL,
    "metadata" JSONB,
    "state" TEXT NOT NULL DEFAULT 'open',
    "paid_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "paid_at" TIMESTAMPTZ(3),
    "cancelled_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_links_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "payment_links_by_account" ON "service"."payment_links"("account_id", "livemode", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "payment_links_open_by_expiry" ON "service"."payment_links"("expires_at") WHERE "state" = 'open';

-- CreateTable
CREATE TABLE "service"."payment_link_intents" (
    "intent_id" TEXT NOT NULL,
    "link_id" TEXT NOT NULL,
    "offer" SMALLINT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "paid" BOOLEAN NOT NULL DEFAULT false,
    "open" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "cancel_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_link_intents_pkey" PRIMARY KEY ("intent_id")
);

-- CreateIndex
CREATE INDEX "payment_link_intents_by_link" ON "service"."payment_link_intents"("link_id", "created_at");

-- CreateIndex
CREATE INDEX "payment_link_intents_to_cancel" ON "service"."payment_link_intents"("cancel_at") WHERE "cancel_at" IS NOT NULL;

-- AddForeignKey
ALTER TABLE "service"."payment_link_intents" ADD CONSTRAINT "payment_link_intents_link_id_fkey" FOREIGN KEY ("link_id") REFERENCES "service"."payment_links"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
