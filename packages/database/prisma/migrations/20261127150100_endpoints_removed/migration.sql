-- What is to be forgotten, oldest first.
-- CreateIndex
CREATE INDEX CONCURRENTLY "webhook_endpoints_removed" ON "service"."webhook_endpoints"("disabled_at") WHERE "disabled_by" = 'account';
