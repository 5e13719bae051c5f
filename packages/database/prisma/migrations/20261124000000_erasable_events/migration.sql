-- CreateTable
CREATE TABLE "service"."intent_keys" (
    "intent_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "partition" SMALLINT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "intent_keys_pkey" PRIMARY KEY ("intent_id","version")
);

-- CreateTable
CREATE TABLE "service"."recovery_keys" (
    "id" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "recovery_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service"."erasures" (
    "intent_id" TEXT NOT NULL,
    "partition" SMALLINT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("intent_id")
);

-- CreateIndex
CREATE INDEX "intent_keys_by_age" ON "service"."intent_keys"("at");

-- CreateIndex
CREATE INDEX "erasures_outstanding" ON "service"."erasures"("partition", "requested_at", "intent_id");
