-- CreateTable
CREATE TABLE "dashboard"."device_requests" (
    "id" TEXT NOT NULL,
    "device_hash" BYTEA NOT NULL,
    "user_code" TEXT NOT NULL,
    "client_name" TEXT NOT NULL,
    "address" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "interval_seconds" INTEGER NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "decision" TEXT,
    "user_id" TEXT,

    CONSTRAINT "device_requests_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "device_requests_device_hash_key" ON "dashboard"."device_requests"("device_hash");

-- CreateIndex
CREATE UNIQUE INDEX "device_requests_user_code_key" ON "dashboard"."device_requests"("user_code");

-- CreateIndex
CREATE INDEX "device_requests_user_id_idx" ON "dashboard"."device_requests"("user_id");

-- CreateIndex
CREATE INDEX "device_requests_expires_at_idx" ON "dashboard"."device_requests"("expires_at");

-- AddForeignKey
ALTER TABLE "dashboard"."device_requests" ADD CONSTRAINT "device_requests_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "dashboard"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
