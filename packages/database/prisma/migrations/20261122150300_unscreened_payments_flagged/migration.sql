-- CreateIndex
CREATE INDEX CONCURRENTLY "unasked_payments_flagged" ON "service"."unasked_payments"("account_id", "livemode", "flagged_at" DESC) WHERE "flagged_at" IS NOT NULL;
