//! Reading a file that may not be there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{Problem, Source};

/// No file that people write is larger; a recorded script comes nearest. Keeps a hostile project from filling memory.
const MOST_BYTES: u64 = 64 << 20;

/// The text of the file at `path`, or `None` when there is none.
pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Option<Source>, Problem> {
    let path = path.into();
    // Looked at before it is opened: opening a named pipe would wait for ever.
    match fs::metadata(&path).and_then(|meta| read(&path, &meta)) {
        Ok(text) => Ok(Some(Source::new(path, text))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(Problem::error(format!("cannot be read: {error}")).in_file(path)),
    }
}

fn read(path: &Path, meta: &fs::Metadata) -> io::Result<String> {
    if !meta.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if meta.len() > MOST_BYTES {
        return Err(io::Error::other(format!(
            "it is larger than {} MiB",
            MOST_BYTES >> 20
        )));
    }
    String::from_utf8(fs::read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::other(format!("byte {at} is not UTF-8"))
    })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
