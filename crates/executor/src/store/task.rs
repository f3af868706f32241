//! The files of one task.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;
use sortie_protocol::{Record, TaskId};

use super::{Store, StoreError, Stream, io_error};

/// The most that is kept of a child's standard error.
const LOG_LIMIT: usize = 1 << 20;
/// How much of its end is shown when it crashes.
const TAIL: usize = 2 << 10;

/// The open files of one task that is going on.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    store: Arc<Store>,
    id: TaskId,
    transcript: File,
    transcript_path: PathBuf,
    log: Log,
    artifacts: HashMap<String, Artifact>,
}

#[derive(Debug, Default)]
struct Log {
    file: Option<File>,
    written: usize,
    text: Utf8,
    stream: Stream,
    tail: String,
}

/// Text from bytes that may be cut anywhere.
#[derive(Debug, Default)]
struct Utf8 {
    held: Vec<u8>,
}

impl Utf8 {
    fn push(&mut self, piece: &[u8]) -> String {
        self.held.extend_from_slice(piece);
        // A character that is not yet whole waits for its rest; one that never will be is replaced.
        let whole = match std::str::from_utf8(&self.held) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.held.len(),
        };
        let rest = self.held.split_off(whole);
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held = rest;
        text
    }
}

/// A tool's output. Its file is open only while a piece is written: a task may have many of them.
#[derive(Debug, Default)]
struct Artifact {
    /// Bytes of the original that are in it.
    offset: u64,
    stream: Stream,
}

impl TaskFiles {
    /// Makes a task's folder `scratch` and its transcript, and stores `plan`.
    pub(crate) fn create(
        store: &Arc<Store>,
        id: &TaskId,
        scratch: &Path,
        plan: &impl Serialize,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(scratch).map_err(io_error("make", scratch))?;
        store.write_json(&store.path(&format!("plans/{id}.json")), plan)?;
        let transcript_path = store.path(&format!("{id}.jsonl"));
        let transcript = File::options()
            .append(true)
            .create_new(true)
            .open(&transcript_path)
            .map_err(io_error("make", &transcript_path))?;
        Ok(Self {
            store: Arc::clone(store),
            id: id.clone(),
            transcript,
            transcript_path,
            log: Log::default(),
            artifacts: HashMap::new(),
        })
    }

    /// Appends a record to the transcript.
    pub(crate) fn record(&mut self, record: &Record) -> Result<(), StoreError> {
        let path = &self.transcript_path;
        let line = serde_json::to_string(record).map_err(|source| StoreError::Json {
            path: path.clone(),
            source,
        })?;
        let mut line = self.store.redactor().clean(&line).into_owned();
        line.push('\n');
        self.transcript
            .write_all(line.as_bytes())
            .map_err(io_error("write", path))
    }

    /// The transcript's path.
    pub(crate) fn transcript(&self) -> &Path {
        &self.transcript_path
    }

    /// Appends a piece of a tool's output. A piece that does not follow the one before is a fault of the child.
    pub(crate) fn artifact(
        &mut self,
        name: &str,
        offset: u64,
        text: &str,
    ) -> Result<bool, StoreError> {
        let plain = !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !plain || name.len() > 64 {
            return Ok(false);
        }
        let path = self.artifact_path(name);
        let artifact = self.artifacts.entry(name.to_owned()).or_default();
        if artifact.offset != offset {
            return Ok(false);
        }
        artifact.offset += text.len() as u64;
        let clean = artifact.stream.push(self.store.redactor(), text);
        append(&path, &clean)?;
        Ok(true)
    }

    /// Appends to the log, as far as there is room, and remembers the end of what came.
    pub(crate) fn log(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        let text = self.log.text.push(piece);
        let clean = self.log.stream.push(self.store.redactor(), &text);
        self.write_log(&clean)
    }

    /// Appends a line to the log that is not the child's own.
    pub(crate) fn note(&mut self, line: &str) -> Result<(), StoreError> {
        let line = self.store.redactor().clean(line).into_owned();
        self.append_log(&format!("{line}\n"))
    }

    fn write_log(&mut self, clean: &str) -> Result<(), StoreError> {
        self.log.tail.push_str(clean);
        let excess = self.log.tail.len().saturating_sub(TAIL);
        self.log
            .tail
            .drain(..self.log.tail.ceil_char_boundary(excess));
        self.append_log(clean)
    }

    fn append_log(&mut self, clean: &str) -> Result<(), StoreError> {
        let room = LOG_LIMIT.saturating_sub(self.log.written);
        if room == 0 || clean.is_empty() {
            return Ok(());
        }
        let path = self.store.path(&format!("{}.log", self.id));
        let file = match &mut self.log.file {
            Some(file) => file,
            none => none.insert(File::create(&path).map_err(io_error("make", &path))?),
        };
        let kept = &clean[..clean.floor_char_boundary(room)];
        self.log.written += clean.len();
        file.write_all(kept.as_bytes())
            .map_err(io_error("write", &path))?;
        if kept.len() < clean.len() {
            file.write_all(b"\n[the rest was not kept]\n")
                .map_err(io_error("write", &path))?;
        }
        Ok(())
    }

    /// Writes what was held back of artifacts and log, and returns the end of the log.
    pub(crate) fn close(&mut self) -> Result<String, StoreError> {
        let rest = self.log.stream.finish(self.store.redactor());
        self.write_log(&rest)?;
        for (name, mut artifact) in std::mem::take(&mut self.artifacts) {
            let rest = artifact.stream.finish(self.store.redactor());
            append(&self.artifact_path(&name), &rest)?;
        }
        Ok(std::mem::take(&mut self.log.tail))
    }

    fn artifact_path(&self, name: &str) -> PathBuf {
        self.store.path(&format!("{}.{name}.txt", self.id))
    }
}

fn append(path: &Path, text: &str) -> Result<(), StoreError> {
    if text.is_empty() {
        return Ok(());
    }
    let mut options = File::options();
    let file = options.append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(io_error("write", path))
}
