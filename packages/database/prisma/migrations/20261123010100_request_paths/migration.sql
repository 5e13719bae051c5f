-- The path of a request beside its pattern. Rows from before have none.
-- AlterTable
ALTER TABLE "service"."request_records" ADD COLUMN "path" TEXT;
