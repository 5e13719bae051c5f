-- CreateTable
CREATE TABLE "service"."sponsors" (
    "account_id" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sponsors_pkey" PRIMARY KEY ("account_id","chain")
);

-- AddForeignKey
ALTER TABLE "service"."sponsors" ADD CONSTRAINT "sponsors_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
