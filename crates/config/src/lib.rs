//! Settings and models on disk: the only room that reads or writes them.
