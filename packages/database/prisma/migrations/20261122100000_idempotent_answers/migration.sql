-- What a request with an idempotency key was answered, for its repeats within 24 h. Encrypted: it may hold a secret.
-- CreateTable
CREATE TABLE "service"."idempotent_answers" (
    "id" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotent_answers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "idempotent_answers_created_at_idx" ON "service"."idempotent_answers"("created_at");
