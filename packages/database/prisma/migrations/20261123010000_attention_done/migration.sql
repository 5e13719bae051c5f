-- CreateTable
CREATE TABLE "dashboard"."attention_done" (
    "account_id" TEXT NOT NULL,
    "livemode" BOOLEAN NOT NULL,
    "item_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "intent_id" TEXT NOT NULL,
    "done_at" TIMESTAMPTZ(3) NOT NULL,
    "user_id" TEXT NOT NULL,

    CONSTRAINT "attention_done_pkey" PRIMARY KEY ("account_id","livemode","item_id")
);

-- CreateIndex
CREATE INDEX "attention_done_newest" ON "dashboard"."attention_done"("account_id", "livemode", "done_at" DESC, "item_id" DESC);

-- AddForeignKey
ALTER TABLE "dashboard"."attention_done" ADD CONSTRAINT "attention_done_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
