//! What a door reads before it can begin: the batch, a schema, and the settings.

use std::{
    env, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde_json::Value;
use sortie_config::{Config, Environment, Flag, LoadOptions, Node, Problem, Source};
use sortie_executor::RecordingFile;

use crate::{answer, cli::HowArgs};

/// What stdin is called in messages.
const STDIN: &str = "<stdin>";

/// The text of a batch, and the folder in which its scripts are looked for.
#[derive(Debug)]
pub(crate) struct BatchFile {
    /// The text.
    pub(crate) source: Source,
    /// The folder of the file; the current one for stdin.
    pub(crate) beside: PathBuf,
}

/// Reads the batch. Stdin is read only where `file` is `-`: a run whose stdin is a pipe that never closes must start.
pub(crate) fn read_batch_file(file: &Path) -> Result<BatchFile, Problem> {
    if file == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes);
        return Ok(BatchFile {
            source: text(STDIN.into(), read)?,
            beside: PathBuf::from("."),
        });
    }
    let source = text(file.to_owned(), fs::read(file))
        .map_err(|problem| problem.help("`run` wants a batch file, or `-` for a batch on stdin"))?;
    let beside = match file.parent() {
        Some(folder) if folder != "" => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    Ok(BatchFile { source, beside })
}

/// Reads the schema that `--schema` names, as JSON or YAML. Whether it is one is for policy to say.
pub(crate) fn read_schema(file: &Path) -> Result<Value, Problem> {
    let source = text(file.to_owned(), fs::read(file))?;
    let node = Node::parse(&source)?;
    if node.is_null() {
        return Err(Problem::error("the schema is empty").in_file(file));
    }
    Ok(node.to_json())
}

fn text(path: PathBuf, bytes: io::Result<Vec<u8>>) -> Result<Source, Problem> {
    let bytes = bytes.map_err(|error| {
        Problem::error(format!("cannot be read: {}", reason(&error))).in_file(&path)
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(path, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Problem::error(format!("byte {at} is not UTF-8")).in_file(path))
        }
    }
}

/// The words of the operating system, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text
        .split_once(" (os error")
        .map_or(&*text, |(words, _)| words);
    words.to_lowercase()
}

/// The settings of a run, with what its flags say on top. Every problem that does not keep it from running is shown.
pub(crate) fn load_config(how: &HowArgs, enable_effort: bool) -> Result<Config, Vec<Problem>> {
    let mut flags = Vec::new();
    if let Some(count) = how.max_concurrency {
        flags.push(Flag {
            name: "--max-concurrency",
            key: "task.maxConcurrency",
            value: count.get().into(),
        });
    }
    if enable_effort {
        flags.push(Flag {
            name: "--effort",
            key: "task.enableEffort",
            value: true.into(),
        });
    }
    let config = load(how.config.clone(), flags).map_err(|problem| vec![problem])?;
    if config.problems.iter().any(Problem::is_error) {
        return Err(config.problems);
    }
    answer::warn(&config.problems);
    Ok(config)
}

/// Where the run is to be recorded to, if it is to be.
pub(crate) fn recording_file(how: &HowArgs) -> Result<Option<RecordingFile>, Problem> {
    how.record.as_deref().map(RecordingFile::at).transpose()
}

/// The settings as they stand, for a door that only looks. Faults in them are for whoever runs something.
pub(crate) fn look_at_config() -> Result<Config, Problem> {
    load(Vec::new(), Vec::new())
}

fn load(overlays: Vec<PathBuf>, flags: Vec<Flag>) -> Result<Config, Problem> {
    let cwd = env::current_dir().map_err(|error| {
        Problem::error(format!("the current folder is gone: {}", reason(&error)))
    })?;
    Config::load(LoadOptions {
        cwd,
        environment: Environment::current(),
        overlays,
        flags,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Look, problems};

    fn shown(problem: Problem, folder: &Path) -> String {
        let text = problems::text(&[problem], Look::PLAIN);
        text.replace(&folder.display().to_string(), "[DIR]")
    }

    #[test]
    fn scripts_stand_beside_the_batch() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("batch.yaml");
        fs::write(&file, "task: x\n").unwrap();
        let batch = read_batch_file(&file).unwrap();
        assert_eq!(batch.beside, folder.path());
        assert_eq!(batch.source.text(), "task: x\n");
    }

    #[test]
    fn a_file_that_cannot_be_read_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read_batch_file(&folder.path().join("bach.yaml")).unwrap_err();
        insta::assert_snapshot!(shown(missing, folder.path()), @"
        × [DIR]/bach.yaml: cannot be read: no such file or directory
        help: `run` wants a batch file, or `-` for a batch on stdin
        ");
        let not_a_file = read_batch_file(folder.path()).unwrap_err();
        insta::assert_snapshot!(shown(not_a_file, folder.path()), @"
        × [DIR]: cannot be read: is a directory
        help: `run` wants a batch file, or `-` for a batch on stdin
        ");
        let latin = folder.path().join("latin.yaml");
        fs::write(&latin, b"task: caf\xe9\n").unwrap();
        insta::assert_snapshot!(shown(read_batch_file(&latin).unwrap_err(), folder.path()), @"
        × [DIR]/latin.yaml: byte 9 is not UTF-8
        help: `run` wants a batch file, or `-` for a batch on stdin
        ");
    }

    #[test]
    fn a_schema_may_be_yaml_but_not_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("schema.yaml");
        fs::write(&file, "type: object\nrequired: [a]\n").unwrap();
        let schema = read_schema(&file).unwrap();
        assert_eq!(
            schema,
            serde_json::json!({"type": "object", "required": ["a"]})
        );
        fs::write(&file, "# nothing\n").unwrap();
        insta::assert_snapshot!(shown(read_schema(&file).unwrap_err(), folder.path()), @"  × [DIR]/schema.yaml: the schema is empty");
    }
}
