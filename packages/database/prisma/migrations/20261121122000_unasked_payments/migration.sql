-- Payments that nobody submitted to us: who sent them is screened afterwards. Private: no event and no answer holds it.
-- CreateTable
CREATE TABLE "service"."unasked_payments" (
    "chain" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "sender" TEXT NOT NULL,
    "intent_id" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "flagged_at" TIMESTAMPTZ(3),
    "finding" JSONB,

    CONSTRAINT "unasked_payments_pkey" PRIMARY KEY ("chain","hash","sender","intent_id")
);

-- CreateIndex
CREATE INDEX "unasked_payments_waiting" ON "service"."unasked_payments"("chain", "seen_at") WHERE "flagged_at" IS NULL;
