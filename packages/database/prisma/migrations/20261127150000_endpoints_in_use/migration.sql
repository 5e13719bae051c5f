-- What each event is delivered to: a removed URL is kept as long as its deliveries are, and must slow down no other.
-- CreateIndex
CREATE INDEX CONCURRENTLY "webhook_endpoints_in_use" ON "service"."webhook_endpoints"("account_id", "livemode") WHERE "disabled_at" IS NULL OR "disabled_by" <> 'account';
