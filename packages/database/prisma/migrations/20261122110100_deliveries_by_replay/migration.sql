-- What a replay has outstanding, and how the rest of it went.
-- CreateIndex
CREATE INDEX CONCURRENTLY "deliveries_by_replay" ON "service"."deliveries"("replay_id", "next_attempt_at", "status") WHERE "replay_id" IS NOT NULL;
