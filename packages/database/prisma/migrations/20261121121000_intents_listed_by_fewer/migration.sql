-- Three indexes less to write for each create. A state is two runs of one index, a direction seven, the whole list fourteen,
-- merged as they are read; a chain is the runs of its tokens, of which it has a handful.

-- DropIndex
DROP INDEX "ledger"."intents_by_status";

-- DropIndex
DROP INDEX "ledger"."intents_by_direction";

-- DropIndex
DROP INDEX "ledger"."intents_by_chain";

-- CreateIndex
CREATE INDEX "intents_by_direction_and_status" ON "ledger"."intents"("account_id", "livemode", "direction", "status", "created_at" DESC, "id" DESC);
