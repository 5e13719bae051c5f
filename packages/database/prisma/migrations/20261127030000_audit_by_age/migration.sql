-- The only way in which a service deletes entries of the audit log: those of two years ago. It runs with the rights of
-- the owner of the table; its callers have none to the table.
CREATE FUNCTION "dashboard"."forget_audit_entries"("most" INTEGER) RETURNS INTEGER
    LANGUAGE sql SECURITY DEFINER SET search_path = '' AS $$
    WITH "deleted" AS (
        DELETE FROM "dashboard"."audit_entries" WHERE "id" IN (
            SELECT "id" FROM "dashboard"."audit_entries"
             WHERE "at" < pg_catalog.now() - INTERVAL '2 years' ORDER BY "at" LIMIT "most"
        ) RETURNING 1
    )
    SELECT pg_catalog.count(*)::INTEGER FROM "deleted"
$$;
