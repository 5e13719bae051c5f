-- CreateTable
CREATE TABLE "dashboard"."account_settings" (
    "account_id" TEXT NOT NULL,
    "brand_name" TEXT,
    "logo" TEXT,
    "accent_color" TEXT,
    "support_url" TEXT,
    "wallets" JSONB NOT NULL DEFAULT '{}',
    "return_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_settings_pkey" PRIMARY KEY ("account_id")
);

-- AddForeignKey
ALTER TABLE "dashboard"."account_settings" ADD CONSTRAINT "account_settings_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "service"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
