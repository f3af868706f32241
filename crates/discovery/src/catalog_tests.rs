use std::fs;

use super::*;

/// A project and a user folder in one temporary folder.
struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { dir }
    }

    fn places(&self) -> Places {
        let root = self.dir.path();
        Places {
            cwd: root.join("project"),
            project_root: root.join("project"),
            project_dirs: vec![root.join("project/.sortie"), root.join("project/.omp")],
            user_dir: root.join("home/.sortie/agent"),
            user_dirs: vec![
                root.join("home/.sortie/agent"),
                root.join("home/.omp/agent"),
            ],
        }
    }

    fn discover(&self) -> Catalog {
        Catalog::discover(&self.places())
    }

    /// A report without the name of the temporary folder.
    fn shown(&self, problem: &Problem) -> String {
        let place = problem.whereabouts().unwrap_or_default();
        let help = problem.advice().map(|help| format!(" ({help})"));
        format!("{place}: {}{}", problem.message(), help.unwrap_or_default())
            .replace(&format!("{}/", self.dir.path().display()), "")
    }

    fn problems(&self, catalog: &Catalog) -> String {
        let lines: Vec<_> = catalog
            .problems()
            .iter()
            .map(|problem| self.shown(problem))
            .collect();
        lines.join("\n")
    }
}

fn own(catalog: &Catalog) -> Vec<(&str, &str)> {
    catalog
        .agents()
        .iter()
        .filter(|agent| agent.source != AgentSource::Bundled)
        .map(|agent| (agent.name.value.as_str(), agent.description.value.as_str()))
        .collect()
}

#[test]
fn without_any_folder_there_are_the_bundled_agents() {
    let catalog = Disk::new(&[]).discover();
    let names: Vec<_> = catalog
        .agents()
        .iter()
        .map(|agent| agent.name.value.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "scout",
            "reviewer",
            "security-reviewer",
            "designer",
            "librarian",
            "task",
            "sonic"
        ]
    );
    assert!(catalog.problems().is_empty());
}

/// C07.
#[test]
fn of_one_name_the_first_in_order_counts() {
    let disk = Disk::new(&[
        (
            "project/.sortie/agents/lint.md",
            "---\nname: Code Linter\ndescription: project\n---\np\n",
        ),
        (
            "home/.sortie/agent/agents/lint.md",
            "---\nname: Code Linter\ndescription: user\n---\nu\n",
        ),
        (
            "project/.sortie/agents/x/dup.md",
            "---\nname: dup\ndescription: from x\n---\nx\n",
        ),
        (
            "project/.sortie/agents/a/dup.md",
            "---\nname: dup\ndescription: from a\n---\na\n",
        ),
        (
            "project/.omp/agents/scout.md",
            "---\nname: scout\ndescription: mine\n---\ns\n",
        ),
    ]);
    let catalog = disk.discover();
    assert_eq!(
        own(&catalog),
        [
            ("dup", "from a"),
            ("Code Linter", "project"),
            ("scout", "mine")
        ]
    );
    let shadowed: Vec<_> = catalog
        .shadowed()
        .iter()
        .map(|shadowed| {
            let loser = shadowed.agent.file.path().display().to_string();
            format!("{loser} by {}", shadowed.by.display())
                .replace(&format!("{}/", disk.dir.path().display()), "")
        })
        .collect();
    insta::assert_snapshot!(shadowed.join("\n"), @"
    project/.sortie/agents/x/dup.md by project/.sortie/agents/a/dup.md
    home/.sortie/agent/agents/lint.md by project/.sortie/agents/lint.md
    bundled/scout.md by project/.omp/agents/scout.md
    ");
    insta::assert_snapshot!(disk.problems(&catalog), @"project/.sortie/agents/x/dup.md:2: `dup` is defined again; project/.sortie/agents/a/dup.md counts (give one of the two another name)");

    let asked = |name: &str| match catalog.find(name) {
        Lookup::Unknown { nearest, names } => (nearest.map(str::to_owned), names.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(asked("CODE_LINTER"), (Some("Code Linter".into()), 9));
    assert_eq!(asked("Scout"), (Some("scout".into()), 9));
    assert_eq!(asked("zzzzzzzz").0, None);
    assert!(matches!(catalog.find("dup"), Lookup::Found(agent) if agent.instructions == "a"));
}

/// C03.
#[test]
fn a_bad_file_is_a_problem_beside_the_good_ones() {
    let disk = Disk::new(&[
        (
            "project/.sortie/agents/verse.md",
            "---\nname: poet\ndescription: Writes verse. Samples:\n<sample>\n</sample>\n---\nWrite.\n",
        ),
        (
            "project/.sortie/agents/shift.md",
            "---\n  description: no name\n---\nWork.\n",
        ),
        (
            "project/.sortie/agents/good.md",
            "---\nname: good\ndescription: Fine\n---\nWork.\n",
        ),
        ("project/.sortie/agents/scout.md", "no header\n"),
        ("project/.sortie/agents/notes.txt", "not an agent"),
    ]);
    let catalog = disk.discover();
    assert_eq!(own(&catalog), [("good", "Fine")]);
    insta::assert_snapshot!(disk.problems(&catalog), @"
    project/.sortie/agents/scout.md:1: there is no header (begin the file with `---`, then `name:` and `description:`, then `---`)
    project/.sortie/agents/shift.md:1: `name` is missing (add a line `name: ...` to the header)
    project/.sortie/agents/verse.md:4: simple key expected ':'
    ");
    let invalid = |name: &str| match catalog.find(name) {
        Lookup::Invalid(problem) => disk.shown(problem),
        other => panic!("{other:?}"),
    };
    insta::assert_snapshot!(invalid("poet"), @"project/.sortie/agents/verse.md:4: `poet` exists but is invalid: simple key expected ':'");
    insta::assert_snapshot!(invalid("shift"), @"project/.sortie/agents/shift.md:1: `shift` exists but is invalid: `name` is missing (add a line `name: ...` to the header)");

    // The bundled agent is still there, and says what happened.
    let Lookup::Found(scout) = catalog.find("scout") else {
        panic!("the bundled scout is gone");
    };
    insta::assert_snapshot!(disk.shown(scout.warnings.last().unwrap()), @"bundled/scout.md:2: `scout` of project/.sortie/agents/scout.md:1 would come first, but is invalid: there is no header");
}

#[test]
fn nothing_unreadable_stops_the_rest() {
    let disk = Disk::new(&[
        (
            "project/.sortie/agents/a.md",
            "---\nname: a\ndescription: A\n---\na\n",
        ),
        (
            "project/.sortie/agents/z.md",
            "---\nname: z\ndescription: Z\n---\nz\n",
        ),
    ]);
    let agents = disk.dir.path().join("project/.sortie/agents");
    fs::create_dir(agents.join("folder.md")).unwrap();
    fs::write(
        agents.join("latin.md"),
        b"---\nname: l\ndescription: caf\xe9\n---\n",
    )
    .unwrap();
    fs::write(agents.join("long.md"), vec![b'x'; (1 << 20) + 1]).unwrap();
    std::os::unix::fs::symlink("nowhere.md", agents.join("gone.md")).unwrap();
    let catalog = disk.discover();
    assert_eq!(own(&catalog), [("a", "A"), ("z", "Z")]);
    insta::assert_snapshot!(disk.problems(&catalog), @"
    project/.sortie/agents/gone.md: this link leads nowhere: No such file or directory (os error 2)
    project/.sortie/agents/latin.md: this file cannot be read: line 3 is not UTF-8 text
    project/.sortie/agents/long.md: this file cannot be read: it is longer than 1048576 bytes
    ");
}

#[test]
fn an_agent_may_be_added_below_all_others() {
    let mut catalog = Catalog::bundled();
    let text = "---\nname: extra\ndescription: made for one run\n---\nx";
    catalog.add(AgentDefinition::parse("adhoc", text, AgentSource::Adhoc).unwrap());
    assert!(matches!(catalog.find("extra"), Lookup::Found(agent) if agent.path().is_none()));
    assert_eq!(catalog.agents().len(), 8);
}
