-- Deletes people who have not confirmed their e-mail address within seven days, have never signed in and are members of
-- no account: anyone can sign up with any address. It runs with the rights of the owner of the table; its callers may
-- not delete people.
CREATE FUNCTION "dashboard"."forget_unconfirmed_people"("most" INTEGER) RETURNS INTEGER
    LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    WITH "deleted" AS (
        DELETE FROM "dashboard"."users" WHERE "id" IN (
            SELECT "id" FROM "dashboard"."users" "u"
             WHERE NOT "u"."email_verified" AND "u"."created_at" < pg_catalog.now() - INTERVAL '7 days'
               AND NOT EXISTS (SELECT FROM "dashboard"."sessions" "s" WHERE "s"."user_id" = "u"."id")
               AND NOT EXISTS (SELECT FROM "dashboard"."members" "m" WHERE "m"."user_id" = "u"."id")
               AND NOT EXISTS (SELECT FROM "dashboard"."provider_identities" "i" WHERE "i"."user_id" = "u"."id")
             ORDER BY "u"."created_at" LIMIT "most" FOR UPDATE SKIP LOCKED
        ) RETURNING 1
    )
    SELECT pg_catalog.count(*)::INTEGER FROM "deleted"
$$;
