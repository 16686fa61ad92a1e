-- How many requests a tenant has left: a bucket that fills again over a minute, for all processes of a server. Nothing
-- of it has to survive a crash.
CREATE UNLOGGED TABLE turn (tenant integer PRIMARY KEY, unused double precision NOT NULL, at timestamptz NOT NULL);

CREATE FUNCTION take_turn(of_tenant integer) RETURNS TABLE (taken boolean, most integer)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ DECLARE
  allowed integer := (SELECT searches_a_minute FROM tenant WHERE tenant.id = of_tenant);
BEGIN
  -- A clock that was set back gives nothing, and takes nothing.
  INSERT INTO turn VALUES (of_tenant, coalesce(allowed, 0) - 1, clock_timestamp()) ON CONFLICT (tenant) DO UPDATE
    SET unused = least(allowed, turn.unused + allowed * greatest(0, extract(epoch FROM excluded.at - turn.at)) / 60) - 1,
        at = excluded.at
    WHERE least(allowed, turn.unused + allowed * greatest(0, extract(epoch FROM excluded.at - turn.at)) / 60) >= 1;
  RETURN QUERY SELECT FOUND AND coalesce(allowed, 0) > 0, coalesce(allowed, 0);
END $$;
REVOKE ALL ON FUNCTION take_turn FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_turn TO gitmem_server;
