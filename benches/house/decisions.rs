//! Finding agents, and deciding what one task may have.

use std::{collections::BTreeMap, fs, hint::black_box, path::PathBuf, process::Stdio};

use sortie_config::Config;
use sortie_discovery::Catalog;
use sortie_policy::{EffectivePolicy, Grant, RootGrant, RunModel, Site, World, resolve};
use sortie_protocol::{Mode, RunId, Secrets, SessionPlan, SpawnRule, TaskId, TaskRequest};
use sortie_testkit::Project;

use crate::{
    child,
    figures::{Unit, in_turn, series, timed},
    scene::{SORTIE, Scene},
    table::{Bar, Beside, Row, Table},
};

const POLICY: &str = "policy and plan of one task, warm";
const LIST: &str = "`agents list` with 5,000 agent files, whole";
const DISCOVER: &str = "discovery of 5,000 agent files, again in one process";

/// How many decisions make one measurement.
const DECISIONS: u32 = 1_000;
const AGENTS: usize = 5_000;

/// All that a root knows of a child before it starts it.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) plan: SessionPlan,
    pub(crate) secrets: Secrets,
    pub(crate) environment: Vec<(String, String)>,
}

impl Decision {
    /// What the bundled agent `task` gets in `scene`.
    pub(crate) fn on(scene: &Scene) -> Self {
        let config = scene.config();
        let (policy, plan) = decide(&config, &Catalog::discover(&config.places));
        let no_command = |_: &mut _| Err(std::io::Error::other("a scene has no commands"));
        let secrets = config.models.secrets_for(&plan.candidates, &no_command);
        let mut added = policy.environment();
        added.push((
            "SORTIE_SESSION".to_owned(),
            format!("{}/{}", plan.run, plan.id),
        ));
        added.push(("SORTIE_PARENT".to_owned(), String::new()));
        Self {
            secrets: secrets.expect("there is no key to look up"),
            environment: child::environment(added),
            plan,
        }
    }
}

/// Decides what the bundled agent `task` may have, as `dispatch` does.
fn decide(config: &Config, agents: &Catalog) -> (EffectivePolicy, SessionPlan) {
    let world = World {
        settings: &config.settings,
        models: &config.models,
        agents,
        scripts: &BTreeMap::new(),
    };
    let grant = Grant::root(RootGrant {
        mode: Mode::Normal,
        model: Some(RunModel::Flag("local/small".to_owned())),
        spawns: SpawnRule::Any,
        blocked: None,
        schema: None,
        schema_mode: None,
    });
    let request = TaskRequest {
        agent: Some("task".to_owned()),
        task: "Copy in.txt.".to_owned(),
        ..TaskRequest::default()
    };
    let policy = resolve(&world, &grant, &request).expect("nothing speaks against it");
    let plan = policy.plan(&Site {
        run: RunId::from("bench".to_owned()),
        id: TaskId::under(None, "One"),
        cwd: config.places.cwd.clone(),
        scratch: config.places.cwd.join("scratch"),
        context: None,
    });
    (policy, plan)
}

pub(crate) fn measure(table: &mut Table) {
    if table.wants(POLICY) {
        policy(table);
    }
    if table.wants(LIST) || table.wants(DISCOVER) {
        discovery(table);
    }
}

fn policy(table: &mut Table) {
    let scene = Scene::silent();
    let config = scene.config();
    let agents = Catalog::discover(&config.places);
    let ours = series(20, || {
        let took = timed(|| {
            for _ in 0..DECISIONS {
                black_box(decide(black_box(&config), black_box(&agents)));
            }
        });
        took * 1e3 / f64::from(DECISIONS)
    });
    table.add(Row {
        what: POLICY,
        unit: Unit::Micros,
        ours,
        beside: None,
        bars: &[Bar::Figure(50.0)],
    });
}

fn discovery(table: &mut Table) {
    let scene = Scene::silent();
    let files = many_agents(&scene.project);
    let look = || {
        timed(|| {
            for file in &files {
                black_box(fs::metadata(file).expect("it is there"));
            }
        })
    };
    let list = || {
        timed(|| {
            let mut command = scene.project.sortie(SORTIE, ["agents", "list"]);
            let status = command.stdout(Stdio::null()).status();
            assert!(status.expect("the program starts").success());
        })
    };
    let places = scene.config().places;
    let discover = || {
        timed(|| {
            let catalog = Catalog::discover(&places);
            assert!(catalog.agents().len() >= AGENTS, "{:?}", catalog.problems());
        })
    };
    let row = |what, bars, (ours, theirs)| Row {
        what,
        unit: Unit::Millis,
        ours,
        beside: Some(Beside {
            what: "one `statx` of each",
            series: theirs,
        }),
        bars,
    };
    table.add(row(LIST, &[Bar::Figure(100.0)], in_turn(10, list, look)));
    table.add(row(
        DISCOVER,
        &[Bar::Ratio(1.5)],
        in_turn(10, discover, look),
    ));
}

/// Writes agents of a usual size into the user's own folder.
fn many_agents(project: &Project) -> Vec<PathBuf> {
    let body =
        "Read what you are given, and say what you find in a few plain sentences.\n".repeat(20);
    let agent = |n| {
        let file = format!("agents/agent-{n}.md");
        let text = format!(
            "---\nname: agent-{n}\ndescription: Looks after part {n} of the house\ntools: [read, grep, glob]\nmodel: local/small\n---\n{body}"
        );
        project.user_file(&file, text);
        project.agent_dir().join(file)
    };
    (0..AGENTS).map(agent).collect()
}
