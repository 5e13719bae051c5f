-- How often a partition was rebuilt: rows may be there since that were missing when a watcher loaded them.
-- AlterTable
ALTER TABLE "ledger"."checkpoints" ADD COLUMN "rebuilds" INTEGER NOT NULL DEFAULT 0;
