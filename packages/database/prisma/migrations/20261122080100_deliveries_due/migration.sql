-- In the order in which a URL gets them: those that are due since the same time, as a backlog is, by version. It replaces
-- deliveries_outstanding, which is dropped once no released version uses it.
-- CreateIndex
CREATE INDEX CONCURRENTLY "deliveries_due" ON "service"."deliveries"("endpoint_id", "next_attempt_at", "version") WHERE "next_attempt_at" IS NOT NULL;
