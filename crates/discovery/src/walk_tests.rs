use std::os::unix::fs::symlink;

use super::*;

fn write(dir: &Path, path: &str) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, path.file_name().unwrap().as_encoded_bytes()).unwrap();
}

fn listed(root: &Path) -> Vec<String> {
    agent_files(&root.join("agents"), root)
        .iter()
        .map(|found| match found {
            Found::File { path, .. } => path.strip_prefix(root).unwrap().display().to_string(),
            Found::Problem(problem) => format!(
                "{}: {}",
                problem
                    .path()
                    .unwrap()
                    .strip_prefix(root)
                    .unwrap()
                    .display(),
                problem.message()
            ),
        })
        .collect()
}

#[test]
fn folders_are_read_with_their_sub_folders_by_relative_path() {
    let dir = tempfile::tempdir().unwrap();
    for path in [
        "z.md", "b/c.md", "b/a.md", "a/x/y.md", "a.md", "B.md", "x.MD", "x.txt",
    ] {
        write(dir.path(), &format!("agents/{path}"));
    }
    assert_eq!(
        listed(dir.path()),
        [
            "agents/B.md",
            "agents/a/x/y.md",
            "agents/a.md",
            "agents/b/a.md",
            "agents/b/c.md",
            "agents/z.md"
        ]
    );
}

#[test]
fn a_folder_that_is_not_there_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    assert!(listed(dir.path()).is_empty());
    fs::write(dir.path().join("agents"), "a file").unwrap();
    assert_eq!(listed(dir.path()).len(), 1);
}

#[test]
fn links_are_followed_once_and_not_out_of_the_boundary() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    write(&root, "agents/one.md");
    write(&root, "beside/two.md");
    write(dir.path(), "secret/three.md");
    let agents = root.join("agents");
    symlink(&agents, agents.join("loop")).unwrap();
    symlink("../beside", agents.join("again")).unwrap();
    symlink("../beside", agents.join("more")).unwrap();
    symlink("../beside/two.md", agents.join("two.md")).unwrap();
    symlink("../../secret", agents.join("out")).unwrap();
    symlink("../../secret/three.md", agents.join("three.md")).unwrap();
    assert_eq!(
        listed(&root),
        [
            "agents/again/two.md",
            "agents/one.md",
            "agents/out: this link leads out of the project and is not followed",
            "agents/three.md: this link leads out of the project and is not followed",
            "agents/two.md",
        ]
    );
}

#[test]
fn the_agents_folder_itself_may_be_a_link_within_the_boundary() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    write(&root, "elsewhere/one.md");
    symlink("elsewhere", root.join("agents")).unwrap();
    assert_eq!(listed(&root), ["agents/one.md"]);
    fs::remove_file(root.join("agents")).unwrap();
    symlink("..", root.join("agents")).unwrap();
    assert_eq!(
        listed(&root),
        ["agents: this link leads out of the project and is not followed"]
    );
}
