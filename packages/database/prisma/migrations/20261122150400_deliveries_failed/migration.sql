-- CreateIndex
CREATE INDEX CONCURRENTLY "deliveries_failed" ON "service"."deliveries"("endpoint_id", "failed_at" DESC, "id" DESC) WHERE "status" = 'failed';
