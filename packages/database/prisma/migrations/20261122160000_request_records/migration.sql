-- The requests of an account to the API, for 7 days. A partition for each day, in turn: the one of tomorrow is emptied whole
-- by TRUNCATE, which a service may do that may drop and create nothing.
-- CreateTable
CREATE TABLE "service"."request_records" (
    "slot" SMALLINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "method" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "status_class" SMALLINT NOT NULL,
    "error_code" TEXT,
    "key_id" TEXT,
    "user_id" TEXT,
    "intent_id" TEXT,
    "duration_ms" INTEGER NOT NULL,
    "request_id" TEXT NOT NULL
) PARTITION BY LIST ("slot");

CREATE TABLE "service"."request_records_0" PARTITION OF "service"."request_records" FOR VALUES IN (0);

CREATE TABLE "service"."request_records_1" PARTITION OF "service"."request_records" FOR VALUES IN (1);

CREATE TABLE "service"."request_records_2" PARTITION OF "service"."request_records" FOR VALUES IN (2);

CREATE TABLE "service"."request_records_3" PARTITION OF "service"."request_records" FOR VALUES IN (3);

CREATE TABLE "service"."request_records_4" PARTITION OF "service"."request_records" FOR VALUES IN (4);

CREATE TABLE "service"."request_records_5" PARTITION OF "service"."request_records" FOR VALUES IN (5);

CREATE TABLE "service"."request_records_6" PARTITION OF "service"."request_records" FOR VALUES IN (6);

CREATE TABLE "service"."request_records_7" PARTITION OF "service"."request_records" FOR VALUES IN (7);

CREATE TABLE "service"."request_records_8" PARTITION OF "service"."request_records" FOR VALUES IN (8);

-- CreateIndex
CREATE INDEX "request_records_by_class" ON "service"."request_records"("account_id", "livemode", "status_class", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "request_records_by_key" ON "service"."request_records"("key_id", "at" DESC, "id" DESC) WHERE "key_id" IS NOT NULL;

-- CreateIndex
CREATE INDEX "request_records_by_intent" ON "service"."request_records"("intent_id", "at" DESC, "id" DESC) WHERE "intent_id" IS NOT NULL;
