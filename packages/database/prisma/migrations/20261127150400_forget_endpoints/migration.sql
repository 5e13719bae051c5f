-- The only way in which a service deletes a URL, with its secrets and its lane: one that its account has removed, when
-- its last delivery is gone. Deliveries are kept for 30 days after their event and for a day after their end. It runs
-- with the rights of the owner of the tables; its callers have none to delete from them.
CREATE FUNCTION "service"."forget_removed_endpoints"("most" INTEGER) RETURNS INTEGER
    LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    WITH "forgotten" AS MATERIALIZED (
        SELECT "id", "account_id", "livemode" FROM "service"."webhook_endpoints" AS "endpoint"
         WHERE "disabled_by" = 'account' AND "disabled_at" < pg_catalog.now() - INTERVAL '31 days'
           AND (SELECT true FROM "service"."deliveries" WHERE "endpoint_id" = "endpoint"."id" LIMIT 1) IS NULL
         ORDER BY "disabled_at" LIMIT "most" FOR UPDATE SKIP LOCKED
    ), "secrets" AS (
        DELETE FROM "service"."webhook_secrets" AS "secret" USING "forgotten"
         WHERE "secret"."account_id" = "forgotten"."account_id" AND "secret"."livemode" = "forgotten"."livemode"
           AND "secret"."endpoint_id" = "forgotten"."id"
    ), "lanes" AS (
        DELETE FROM "service"."webhook_lanes" AS "lane" USING "forgotten" WHERE "lane"."endpoint_id" = "forgotten"."id"
    ), "endpoints" AS (
        DELETE FROM "service"."webhook_endpoints" AS "endpoint" USING "forgotten"
         WHERE "endpoint"."id" = "forgotten"."id" RETURNING 1
    )
    SELECT pg_catalog.count(*)::INTEGER FROM "endpoints"
$$;
