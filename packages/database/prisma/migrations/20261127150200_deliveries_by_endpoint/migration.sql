-- Whether a URL has a delivery left: without it, to delete the URL reads all deliveries, for the foreign key alone.
-- CreateIndex
CREATE INDEX CONCURRENTLY "deliveries_by_endpoint" ON "service"."deliveries"("endpoint_id");
