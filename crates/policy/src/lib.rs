//! The decision: definition, settings and grant in, effective policy and session plan out. Opens nothing.
