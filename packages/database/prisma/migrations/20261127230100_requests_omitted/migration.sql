-- How many requests of its account before this one have no record.
-- AlterTable
ALTER TABLE "service"."request_records" ADD COLUMN "omitted" INTEGER NOT NULL DEFAULT 0;
