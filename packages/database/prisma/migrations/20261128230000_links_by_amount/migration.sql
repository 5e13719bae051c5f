-- Links whose intents are also paid by their amount.
-- AlterTable
ALTER TABLE "service"."payment_links" ADD COLUMN "attribution" TEXT;
