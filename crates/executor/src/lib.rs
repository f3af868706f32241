//! Many children: dispatch, admission, supervision, and the store.
