-- CreateIndex
CREATE INDEX CONCURRENTLY "intent_events_unexpected" ON "ledger"."intent_events"("account_id", "livemode", "type", "at" DESC, "event_id" DESC) WHERE "account_id" IS NOT NULL;
