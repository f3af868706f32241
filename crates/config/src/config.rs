//! Everything that is read once, when a run starts.

use std::path::{Path, PathBuf};

use crate::{
    Environment, Flag, Models, Places, Problem, Settings, Source,
    memory::available_mib,
    open::open,
    places::{OWN_DIR, user_dir},
    settings::{Layer, Owner, Trust, resolve},
};

/// The file that holds settings, in each configuration folder.
const FILE: &str = "config.yml";

/// What a run was started with.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The folder it was started in, absolute.
    pub cwd: PathBuf,
    /// Its variables.
    pub environment: Environment,
    /// The files that `--config` names, in order; relative ones start at `cwd`.
    pub overlays: Vec<PathBuf>,
    /// The flags that stand for settings.
    pub flags: Vec<Flag>,
}

/// Settings, models, and where they came from. Read once a run; nested spawns use the same.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folders.
    pub places: Places,
    /// The settings.
    pub settings: Settings,
    /// The catalogue of models.
    pub models: Models,
    /// What is wrong or worth knowing, in the order it was read. After an error nothing should be started; listings
    /// may still be shown.
    pub problems: Vec<Problem>,
    /// The variables.
    pub environment: Environment,
}

impl Config {
    /// Reads everything.
    ///
    /// The error is a user without any folder; every other problem is in [`Config::problems`], beside what could be
    /// read.
    pub fn load(options: LoadOptions) -> Result<Self, Problem> {
        let LoadOptions {
            cwd,
            environment,
            overlays,
            flags,
        } = options;
        let mut problems = Vec::new();
        let own_dir = user_dir(&cwd, &environment)?;
        let own = read(&own_dir, Owner::Ours, &mut problems);
        let overlays: Vec<Source> = overlays
            .iter()
            .filter_map(|path| overlay(cwd.join(path), &mut problems))
            .collect();
        let overlays = overlays
            .iter()
            .map(|source| Layer::File(source, Trust::Full, Owner::Ours));
        let above: Vec<Layer<'_>> = overlays
            .chain([Layer::Variables(&environment), Layer::Flags(&flags)])
            .collect();
        let own_layer = own
            .iter()
            .map(|source| Layer::File(source, Trust::Full, Owner::Ours));

        // Which folders there are is a setting itself, and only the user's own layers may say it.
        let mut first = Settings::default();
        let trusted: Vec<Layer<'_>> = own_layer.clone().chain(above.iter().copied()).collect();
        resolve(&mut first, &trusted);
        let places = Places::find(&cwd, &environment, &first.discovery_config_dirs)?;

        let others = neighbours(&places, &mut problems);
        let (projects, users): (Vec<_>, Vec<_>) = others
            .iter()
            .map(|(source, trust, owner)| Layer::File(source, *trust, *owner))
            .partition(|layer| matches!(layer, Layer::File(_, Trust::Narrow, _)));
        let layers: Vec<Layer<'_>> = users
            .into_iter()
            .chain(own_layer)
            .chain(projects)
            .chain(above)
            .collect();
        let mut settings = Settings::defaults(available_mib());
        problems.extend(resolve(&mut settings, &layers));
        let (models, more) = Models::load(&places, &environment);
        problems.extend(more);
        Ok(Self {
            places,
            settings,
            models,
            problems,
            environment,
        })
    }
}

/// The settings of the folders that are not the user's own, least important first.
fn neighbours(places: &Places, problems: &mut Vec<Problem>) -> Vec<(Source, Trust, Owner)> {
    let users = places
        .user_dirs
        .iter()
        .filter(|dir| **dir != places.user_dir)
        .map(|dir| (dir, Trust::Full, Owner::Foreign));
    let projects = places.project_dirs.iter().map(|dir| {
        let owner = if dir.ends_with(OWN_DIR) {
            Owner::Ours
        } else {
            Owner::Foreign
        };
        (dir, Trust::Narrow, owner)
    });
    let folders: Vec<_> = users.chain(projects).collect();
    folders
        .into_iter()
        .rev()
        .filter_map(|(dir, trust, owner)| Some((read(dir, owner, problems)?, trust, owner)))
        .collect()
}

/// The settings file of a folder, where there is one.
fn read(dir: &Path, owner: Owner, problems: &mut Vec<Problem>) -> Option<Source> {
    match (open(dir.join(FILE)), owner) {
        (Ok(source), _) => source,
        (Err(problem), Owner::Ours) => {
            problems.push(problem);
            None
        }
        (Err(problem), Owner::Foreign) => {
            problems.push(problem.into_warning("; it is ignored"));
            None
        }
    }
}

/// A file that was asked for by name.
fn overlay(path: PathBuf, problems: &mut Vec<Problem>) -> Option<Source> {
    match open(&path) {
        Ok(Some(source)) => Some(source),
        Ok(None) => {
            problems.push(
                Problem::error("there is no such file")
                    .in_file(path)
                    .help("`--config` names a settings file"),
            );
            None
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
