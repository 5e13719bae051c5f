-- AlterTable
ALTER TABLE "service"."network_watches" ADD COLUMN     "shards" INTEGER NOT NULL DEFAULT 1;
