-- CreateTable
CREATE TABLE "service"."gas_promises" (
    "intent_id" TEXT NOT NULL,
    "stubs" SMALLINT NOT NULL DEFAULT 0,
    "promises" SMALLINT NOT NULL DEFAULT 0,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "gas_promises_pkey" PRIMARY KEY ("intent_id")
);

-- CreateIndex
CREATE INDEX "gas_promises_by_age" ON "service"."gas_promises"("at");
