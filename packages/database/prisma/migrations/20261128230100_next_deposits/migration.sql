-- Of each reserved amount the first other deposit that has it: it pays where a reorg undoes the one that has paid.
-- AlterTable
ALTER TABLE "service"."reserved_amounts" ADD COLUMN "next_deposit_id" TEXT,
ADD COLUMN "next_deposit_version" INTEGER;

-- CreateIndex
-- A deposit that is lost is looked for in both.
CREATE INDEX "reserved_amounts_by_deposit" ON "service"."reserved_amounts"("deposit_id") WHERE "deposit_id" IS NOT NULL;

-- CreateIndex
CREATE INDEX "reserved_amounts_by_next_deposit" ON "service"."reserved_amounts"("next_deposit_id") WHERE "next_deposit_id" IS NOT NULL;
