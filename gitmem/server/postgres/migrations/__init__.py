"""The steps of the schema, in order; `postgres/database` runs them."""
