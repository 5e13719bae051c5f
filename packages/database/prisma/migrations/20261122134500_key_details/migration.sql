-- What an account says about a key, and when it was last used.
-- AlterTable
ALTER TABLE "service"."api_keys" ADD COLUMN "name" TEXT,
ADD COLUMN "expires_at" TIMESTAMPTZ(3),
ADD COLUMN "last_used_at" TIMESTAMPTZ(3);
