-- Lists by token, in their order, and with its last columns all that a summary of an account counts: that reads no row. It
-- replaces intents_by_token, which is dropped once no released version uses it.
-- CreateIndex
CREATE INDEX CONCURRENTLY "intents_summed" ON "ledger"."intents"("account_id", "livemode", "token_address", "created_at" DESC, "id" DESC, "status", "direction", "refund_of", "amount_base_units");
