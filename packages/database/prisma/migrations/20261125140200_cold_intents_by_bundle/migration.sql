-- `pf ledger verify` reads each bundle once.
-- CreateIndex
CREATE INDEX CONCURRENTLY "cold_intents_by_bundle" ON "ledger"."cold_intents"("bundle");
