-- Only what can be deleted is ordered by age alone: as an index of everything it was taken for lists of one account, too.
-- DropIndex
DROP INDEX "service"."deliveries_by_age";

-- CreateIndex
CREATE INDEX "deliveries_ended" ON "service"."deliveries"("created_at") WHERE "next_attempt_at" IS NULL;
