//! JSON Schema and JTD: check, convert, fit to a provider, validate.
