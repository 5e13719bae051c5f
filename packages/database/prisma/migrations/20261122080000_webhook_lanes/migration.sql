-- One process at a time sends to a URL: the lease is on the URL, so deliveries are written once, with their result.
-- CreateTable
CREATE TABLE "service"."webhook_lanes" (
    "endpoint_id" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "woken" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "webhook_lanes_pkey" PRIMARY KEY ("endpoint_id")
);

-- AddForeignKey
ALTER TABLE "service"."webhook_lanes" ADD CONSTRAINT "webhook_lanes_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "service"."webhook_endpoints"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What was sent, and what came back. No foreign key: rows are written hundreds at a time, and deleted with their delivery.
-- CreateTable
CREATE TABLE "service"."delivery_attempts" (
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "response_status" INTEGER,
    "reason" TEXT,
    "response_start" TEXT,

    CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY ("delivery_id","number")
);

-- Since when a URL has not accepted anything.
-- AlterTable
ALTER TABLE "service"."webhook_endpoints" ADD COLUMN "failing_since" TIMESTAMPTZ(3);

-- Events that are of no intent bring their bytes with them.
-- AlterTable
ALTER TABLE "service"."deliveries" ALTER COLUMN "intent_id" DROP NOT NULL,
ALTER COLUMN "version" DROP NOT NULL,
ADD COLUMN "body" TEXT;
