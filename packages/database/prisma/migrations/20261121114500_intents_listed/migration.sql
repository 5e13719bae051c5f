-- GET /intents: one index for each filter, in the order of the list, so that a page of any single filter reads its rows and
-- no others. What an account cannot have many of needs no account in front; what is null is not in its index.

-- An account's whole list is that of its two directions, merged. With an index of the whole beside them Postgres would take
-- that for a value which most intents have, and read all those in front that do not have it.
-- DropIndex
DROP INDEX "ledger"."intents_by_account";

-- CreateIndex
CREATE INDEX "intents_by_status" ON "ledger"."intents"("account_id", "livemode", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "intents_by_chain" ON "ledger"."intents"("account_id", "livemode", "chain", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "intents_by_token" ON "ledger"."intents"("account_id", "livemode", "token_address", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "intents_by_direction" ON "ledger"."intents"("account_id", "livemode", "direction", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "intents_by_requestor" ON "ledger"."intents"("account_id", "livemode", "requestor", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "intents_by_fulfiller" ON "ledger"."intents"("account_id", "livemode", "fulfiller", "created_at" DESC, "id" DESC) WHERE "fulfiller" IS NOT NULL;

-- CreateIndex
CREATE INDEX "intents_by_reference" ON "ledger"."intents"("reference", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "intents_by_tx_signature" ON "ledger"."intents"("tx_signature", "created_at" DESC, "id" DESC) WHERE "tx_signature" IS NOT NULL;

-- Each key and value of the metadata together with the account (jsonb_path_ops hashes the whole path), so that what other
-- accounts write costs nothing. Each entry is put in its place at once: a list of pending ones would be flushed by some
-- unlucky create.
-- CreateIndex
CREATE INDEX "intents_by_metadata" ON "ledger"."intents" USING gin (jsonb_set('{}'::jsonb, ARRAY["account_id"], "metadata") jsonb_path_ops) WITH (fastupdate = off) WHERE "metadata" IS NOT NULL;
