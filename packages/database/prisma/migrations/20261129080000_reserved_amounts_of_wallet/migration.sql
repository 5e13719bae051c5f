-- What all accounts have reserved for a wallet: two of them get two amounts.
-- CreateIndex
CREATE INDEX CONCURRENTLY "reserved_amounts_of_wallet" ON "service"."reserved_amounts"("chain", "token_address", "recipient", "amount_base_units");
