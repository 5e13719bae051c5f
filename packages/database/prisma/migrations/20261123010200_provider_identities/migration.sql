-- CreateTable
CREATE TABLE "dashboard"."provider_identities" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_identities_pkey" PRIMARY KEY ("issuer","subject")
);

-- CreateIndex
CREATE INDEX "provider_identities_user_id_idx" ON "dashboard"."provider_identities"("user_id");

-- AddForeignKey
ALTER TABLE "dashboard"."provider_identities" ADD CONSTRAINT "provider_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "dashboard"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
