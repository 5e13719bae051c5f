-- AlterTable
ALTER TABLE "dashboard"."audit_entries" ADD COLUMN "token_id" TEXT;

-- CreateTable
CREATE TABLE "dashboard"."personal_tokens" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "hint" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "personal_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "personal_tokens_hash_key" ON "dashboard"."personal_tokens"("hash");

-- CreateIndex
CREATE INDEX "personal_tokens_user_id_idx" ON "dashboard"."personal_tokens"("user_id");

-- CreateIndex
CREATE INDEX "personal_tokens_expires_at_idx" ON "dashboard"."personal_tokens"("expires_at");

-- AddForeignKey
ALTER TABLE "dashboard"."personal_tokens" ADD CONSTRAINT "personal_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "dashboard"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
