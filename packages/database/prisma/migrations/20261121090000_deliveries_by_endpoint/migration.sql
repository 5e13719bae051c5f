-- What is outstanding is always asked for endpoint by endpoint, so that a dead URL's backlog cannot hide the others'.
-- DropIndex
DROP INDEX "service"."deliveries_due";

-- CreateIndex
CREATE INDEX "deliveries_outstanding" ON "service"."deliveries"("endpoint_id", "next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;
