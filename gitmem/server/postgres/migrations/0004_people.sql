-- Callers that an identity provider vouches for have no token of ours: who asked is the subject of theirs.
ALTER TABLE audit ADD COLUMN subject text NOT NULL DEFAULT '';
CREATE FUNCTION tenant_named(given text) RETURNS integer
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT tenant.id FROM tenant WHERE tenant.name = given $$;
REVOKE ALL ON FUNCTION tenant_named FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_named TO gitmem_server;
