-- Links whose intents more than their amount may pay.
-- AlterTable
ALTER TABLE "service"."payment_links" ADD COLUMN "accept" TEXT;
