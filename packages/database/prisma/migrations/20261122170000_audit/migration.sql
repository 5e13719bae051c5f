-- CreateTable
CREATE TABLE "dashboard"."audit_entries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor_kind" TEXT NOT NULL,
    "actor_id" TEXT,
    "actor_name" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "livemode" BOOLEAN,
    "subject" TEXT,
    "before" JSONB,
    "after" JSONB,
    "address" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_newest" ON "dashboard"."audit_entries"("account_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_by_action" ON "dashboard"."audit_entries"("account_id", "action", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_by_actor" ON "dashboard"."audit_entries"("account_id", "actor_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_by_subject" ON "dashboard"."audit_entries"("account_id", "subject", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_at_idx" ON "dashboard"."audit_entries"("at");

-- AddForeignKey
ALTER TABLE "dashboard"."audit_entries" ADD CONSTRAINT "audit_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
