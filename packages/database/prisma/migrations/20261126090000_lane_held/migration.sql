-- AlterTable
ALTER TABLE "service"."webhook_lanes" ADD COLUMN     "held_until" TIMESTAMPTZ(3);
