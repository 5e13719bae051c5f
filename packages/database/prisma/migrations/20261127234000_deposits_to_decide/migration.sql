-- What an account has not decided about, among money that counts. What was undone or turned out to pay an intent can
-- stay open for good: a list would read past all of it.
-- CreateIndex
CREATE INDEX CONCURRENTLY "deposits_to_decide" ON "ledger"."deposits"("account_id", "livemode", "created_at" DESC, "id" DESC) WHERE "state" = 'open' AND "level" IN ('confirmed', 'finalized');
