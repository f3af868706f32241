use std::fs;

use serde_json::json;

use super::*;
use crate::{Origin, shown::shown};

struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(world.at("p/.git")).unwrap();
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn options(&self) -> LoadOptions {
        LoadOptions {
            cwd: self.at("p"),
            environment: Environment::from_iter([("HOME", self.at(""))]),
            ..LoadOptions::default()
        }
    }

    fn shown(&self, config: &Config) -> String {
        shown(&config.problems, self.0.path())
    }
}

#[test]
fn layers_stand_in_order() {
    let world = World::new();
    let idle = |ms: u32| format!("task: {{idleMs: {ms}}}\n");
    let load = |options: &LoadOptions| {
        let config = Config::load(options.clone()).unwrap();
        assert_eq!(config.problems, []);
        let idle = config.settings.task_idle_ms;
        (idle.or_zero(), idle.origin)
    };
    let mut options = world.options();
    assert_eq!(load(&options), (600_000, Origin::Default));
    let file = |path: &str| Origin::File {
        path: world.at(path),
        line: 1,
    };
    world.write(".musepi/agent/config.yml", &idle(1_000));
    assert_eq!(load(&options), (1_000, file(".musepi/agent/config.yml")));
    world.write(".omp/agent/config.yml", &idle(900));
    assert_eq!(load(&options), (900, file(".omp/agent/config.yml")));
    world.write(".sortie/agent/config.yml", &idle(800));
    assert_eq!(load(&options), (800, file(".sortie/agent/config.yml")));
    world.write("p/.omp/config.yml", &idle(700));
    assert_eq!(load(&options), (700, file("p/.omp/config.yml")));
    world.write("p/.sortie/config.yml", &idle(600));
    assert_eq!(load(&options), (600, file("p/.sortie/config.yml")));
    world.write("p/over.yml", &idle(5_000));
    options.overlays = vec!["over.yml".into()];
    assert_eq!(load(&options), (5_000, file("p/over.yml")));
    let home = world.at("").into_os_string();
    options.environment =
        Environment::from_iter([("HOME", home), ("SORTIE_TASK_IDLE_MS", "6000".into())]);
    assert_eq!(
        load(&options),
        (6_000, Origin::Variable("SORTIE_TASK_IDLE_MS".into()))
    );
    options.flags = vec![Flag {
        name: "--idle",
        key: "task.idleMs",
        value: json!(7_000),
    }];
    assert_eq!(load(&options), (7_000, Origin::Flag("--idle")));
}

#[test]
fn only_the_user_says_which_folders_there_are() {
    let world = World::new();
    world.write("p/.evil/config.yml", "task: {idleMs: 1}\n");
    world.write("p/.sortie/config.yml", "discovery: {configDirs: [.evil]}\n");
    let config = Config::load(world.options()).unwrap();
    assert_eq!(config.places.project_dirs, [world.at("p/.sortie")]);
    insta::assert_snapshot!(world.shown(&config), @r#"
    ~/p/.sortie/config.yml:1:25: note: `discovery.configDirs` is ignored: a project may not set it
      set it in your own `config.yml`
    "#);
    world.write(
        ".sortie/agent/config.yml",
        "discovery.configDirs: [.evil]\n",
    );
    let config = Config::load(world.options()).unwrap();
    assert_eq!(config.places.project_dirs, [world.at("p/.evil")]);
    assert_eq!(config.settings.task_idle_ms.get(), Some(1));
    assert_eq!(config.problems, []);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let world = World::new();
    fs::create_dir_all(world.at(".sortie/agent/config.yml")).unwrap();
    fs::create_dir_all(world.at(".omp/agent/config.yml")).unwrap();
    world.write("p/.sortie/models.yml", "providers: {}\n");
    fs::write(world.at("p/.sortie/config.yml"), b"task: \xff\n").unwrap();
    let options = LoadOptions {
        overlays: vec!["none.yml".into()],
        ..world.options()
    };
    let config = Config::load(options).unwrap();
    insta::assert_snapshot!(world.shown(&config), @r#"
    ~/.sortie/agent/config.yml: error: cannot be read: it is not a file
    ~/p/none.yml: error: there is no such file
      `--config` names a settings file
    ~/p/.sortie/config.yml: error: cannot be read: byte 6 is not UTF-8
    ~/.omp/agent/config.yml: warning: cannot be read: it is not a file; it is ignored
    ~/p/.sortie/models.yml: note: ignored: a project may not add providers or models
      move what you need to `models.yml` in your own folder
    "#);
}

#[test]
fn a_user_without_a_home_has_no_config() {
    let problem = Config::load(LoadOptions::default()).unwrap_err();
    assert!(problem.is_error());
    assert!(problem.message().contains("`HOME` is not set"));
}
