//! Dev only: a scripted model server, a misbehaving child, and temporary projects.
