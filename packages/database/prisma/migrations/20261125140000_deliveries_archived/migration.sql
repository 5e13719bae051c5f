-- When a delivery came to rest, by the clock of Postgres: the order in which the archive reads them. Earlier rows have
-- the constant, so they come first.
-- AlterTable
ALTER TABLE "service"."deliveries" ADD COLUMN     "ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00';

-- A trigger, because several statements end deliveries, and those of the version before do so while it is replaced.
CREATE FUNCTION "service"."stamp_delivery_end"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The transaction has its id before the time (src/webhooks/ended-deliveries.ts).
  PERFORM pg_current_xact_id();
  NEW.ended_at := clock_timestamp();
  RETURN NEW;
END
$$;

CREATE TRIGGER "stamp_delivery_end" BEFORE INSERT OR UPDATE ON "service"."deliveries"
  FOR EACH ROW WHEN (NEW."next_attempt_at" IS NULL) EXECUTE FUNCTION "service"."stamp_delivery_end"();
