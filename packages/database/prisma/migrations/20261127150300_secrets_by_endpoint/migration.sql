-- The secrets of one URL, of an account that has had many.
-- CreateIndex
CREATE INDEX CONCURRENTLY "webhook_secrets_by_endpoint" ON "service"."webhook_secrets"("account_id", "livemode", "endpoint_id");
