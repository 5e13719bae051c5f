-- Whose payment it is, for payments that the intent did not ask for and those from sanctioned senders: accounts look for them.
-- Rows from before have none.
-- AlterTable
ALTER TABLE "ledger"."intent_events" ADD COLUMN "account_id" TEXT,
ADD COLUMN "livemode" BOOLEAN;

-- AlterTable
ALTER TABLE "service"."unasked_payments" ADD COLUMN "account_id" TEXT,
ADD COLUMN "livemode" BOOLEAN;
