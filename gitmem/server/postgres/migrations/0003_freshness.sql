-- How long ago the repositories of all tenants were fetched: numbers for the metrics, which name no tenant.
CREATE FUNCTION freshness() RETURNS TABLE (repositories bigint, never bigint, failing bigint, oldest double precision)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT count(*), count(*) FILTER (WHERE fetched IS NULL), count(*) FILTER (WHERE problem <> ''),
          extract(epoch FROM now() - min(fetched))::double precision FROM repository $$;
REVOKE ALL ON FUNCTION freshness FROM PUBLIC;
GRANT EXECUTE ON FUNCTION freshness TO gitmem_server;
