//! The file that a recording goes to.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

use sortie_config::Problem;

use super::{Recording, preface::SIGN};
use crate::history::StoredRun;

/// What a script's file may end in.
const ENDINGS: [&str; 2] = ["yaml", "yml"];

/// Where a run is recorded to. Found fit before the run starts, so that no run is lost to a slip in a name.
#[derive(Clone, Debug)]
pub struct RecordingFile {
    path: PathBuf,
    name: String,
}

impl RecordingFile {
    /// The file at `path`. Nothing is left there yet.
    ///
    /// The problem is a name that no script can have, a folder that cannot be written, or a file that is there and is
    /// no recording: that one is somebody's work.
    pub fn at(path: &Path) -> Result<Self, Problem> {
        let fault = |message: &str| Problem::error(message.to_owned()).in_file(path);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let name = path.file_stem().and_then(|name| name.to_str());
        let (Some(name), true) = (name, ending.is_some_and(|it| ENDINGS.contains(&it))) else {
            return Err(
                fault("a recording is a script, and that is a file `NAME.yaml`")
                    .help("`--record monday.yaml` replays by `--model script/monday`"),
            );
        };
        if !can_be_selected(name) {
            let fault = fault(
                "nobody could replay it: its name means something else in `--model script/NAME`",
            );
            return Err(fault.help("leave out commas, colons, backslashes, and blanks at its ends"));
        }
        match fs::read(path) {
            Ok(text) if text.starts_with(format!("# {SIGN}").as_bytes()) => {}
            Ok(_) => {
                return Err(
                    fault("the file is there, and is no recording of an earlier run")
                        .help("choose another name, or remove it"),
                );
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unwritten(path, &error)),
        }
        let file = Self {
            path: path.to_owned(),
            name: name.to_owned(),
        };
        let probe = file.beside();
        fs::File::create_new(&probe)
            .and_then(|_| fs::remove_file(&probe))
            .map_err(|error| unwritten(path, &error))?;
        Ok(file)
    }

    /// Writes `recording`, whole or not at all, as the script of the run in `dir`.
    pub fn write(&self, recording: &Recording, dir: &Path) -> Result<(), Problem> {
        let lost = |message: String| {
            Problem::error(format!("the run is not recorded: {message}")).in_file(&self.path)
        };
        let run = StoredRun::load(dir).map_err(|error| lost(error.to_string()))?;
        let script = recording
            .script(&run, &self.name)
            .map_err(|error| lost(error.to_string()))?;
        let beside = self.beside();
        fs::write(&beside, script)
            .and_then(|()| fs::rename(&beside, &self.path))
            .map_err(|error| {
                // Half of it helps nobody; what cannot be removed either is told by the error.
                let _ = fs::remove_file(&beside);
                lost(error.to_string())
            })
    }

    /// A name of this process's own in the same folder.
    fn beside(&self) -> PathBuf {
        let name = format!(".{}.{}", self.name, process::id());
        self.path.with_file_name(name)
    }
}

/// Whether a selector leads to the script `name`: one is a list with commas, of models with levels behind colons.
fn can_be_selected(name: &str) -> bool {
    let is_taken = |c: char| matches!(c, ',' | ':' | '\\') || c.is_control();
    !name.contains(is_taken) && name.trim() == name
}

fn unwritten(path: &Path, error: &io::Error) -> Problem {
    // In the words of the system, without its number.
    let text = error.to_string().to_lowercase();
    let words = text.split(" (os error").next().unwrap_or_default();
    Problem::error(format!("a recording cannot be written here: {words}"))
        .in_file(path)
        .help("name a file in a folder that is there and that you may write to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_take_a_recording_is_refused_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str| {
            let problem = RecordingFile::at(&folder.path().join(name)).unwrap_err();
            let help = problem.advice().unwrap_or("no help");
            format!("{name}: {} ({help})", problem.message())
        };
        fs::write(folder.path().join("mine.yaml"), "- turns: []\n").unwrap();
        fs::create_dir(folder.path().join("folder.yml")).unwrap();
        let told = [
            "monday",
            "monday.json",
            ".yaml",
            "a,b.yaml",
            "a:low.yaml",
            " a.yml",
            "mine.yaml",
            "folder.yml",
            "none/monday.yaml",
        ]
        .map(refused);
        insta::assert_snapshot!(told.join("\n"), @"
        monday: a recording is a script, and that is a file `NAME.yaml` (`--record monday.yaml` replays by `--model script/monday`)
        monday.json: a recording is a script, and that is a file `NAME.yaml` (`--record monday.yaml` replays by `--model script/monday`)
        .yaml: a recording is a script, and that is a file `NAME.yaml` (`--record monday.yaml` replays by `--model script/monday`)
        a,b.yaml: nobody could replay it: its name means something else in `--model script/NAME` (leave out commas, colons, backslashes, and blanks at its ends)
        a:low.yaml: nobody could replay it: its name means something else in `--model script/NAME` (leave out commas, colons, backslashes, and blanks at its ends)
         a.yml: nobody could replay it: its name means something else in `--model script/NAME` (leave out commas, colons, backslashes, and blanks at its ends)
        mine.yaml: the file is there, and is no recording of an earlier run (choose another name, or remove it)
        folder.yml: a recording cannot be written here: is a directory (name a file in a folder that is there and that you may write to)
        none/monday.yaml: a recording cannot be written here: no such file or directory (name a file in a folder that is there and that you may write to)
        ");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2);
    }

    #[test]
    fn an_earlier_recording_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("monday.yaml");
        fs::write(&path, format!("# {SIGN}r1.\n- turns: []\n")).unwrap();
        let file = RecordingFile::at(&path).unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        assert!(file.write(&Recording::default(), &run).is_err());
        assert!(fs::read_to_string(&path).unwrap().contains("turns"));
        fs::write(run.join("journal.jsonl"), "").unwrap();
        file.write(&Recording::default(), &run).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("script/monday"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
