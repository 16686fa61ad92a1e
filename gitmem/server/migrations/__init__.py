"""The steps of the schema, in order; `server/database` runs them."""
