-- One index for each filter of GET /webhooks, in the order of its pages, and one for what is old enough to be deleted.
-- CreateIndex
CREATE INDEX "deliveries_by_intent" ON "service"."deliveries"("intent_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deliveries_by_type" ON "service"."deliveries"("account_id", "livemode", "event_type", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deliveries_by_status" ON "service"."deliveries"("account_id", "livemode", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deliveries_by_age" ON "service"."deliveries"("created_at");
