-- AlterTable
ALTER TABLE "service"."webhook_endpoints" ADD COLUMN     "resumed_at" TIMESTAMPTZ(3);
