-- What the archive reads.
-- CreateIndex
CREATE INDEX CONCURRENTLY "deliveries_by_end" ON "service"."deliveries"("ended_at", "id") WHERE "next_attempt_at" IS NULL;
