use super::*;

struct World(tempfile::TempDir);

impl World {
    fn new(folders: &[&str]) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for folder in folders {
            fs::create_dir_all(world.at(folder)).unwrap();
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn find(&self, cwd: &str) -> Places {
        let environment = Environment::from_iter([("HOME", self.at("home"))]);
        let names = [".sortie", ".omp"].map(str::to_owned);
        Places::find(&self.at(cwd), &environment, &names).unwrap()
    }
}

#[test]
fn the_nearest_folder_up_to_the_repository_is_the_projects() {
    let world = World::new(&[
        "home/.sortie",
        "home/p/.git",
        "home/p/.sortie",
        "home/p/.omp",
        "home/p/a/.omp",
        "home/p/a/b",
    ]);
    let places = world.find("home/p/a/b");
    assert_eq!(places.project_root, world.at("home/p"));
    assert_eq!(
        places.project_dirs,
        [world.at("home/p/.sortie"), world.at("home/p/a/.omp")]
    );
    assert_eq!(places.user_dir, world.at("home/.sortie/agent"));
    assert_eq!(
        places.user_dirs,
        [world.at("home/.sortie/agent"), world.at("home/.omp/agent")]
    );
}

#[test]
fn outside_a_repository_only_the_current_folder_counts() {
    let world = World::new(&["home/p/.sortie", "home/p/a"]);
    assert_eq!(world.find("home/p/a").project_dirs, [] as [PathBuf; 0]);
    assert_eq!(world.find("home/p/a").project_root, world.at("home/p/a"));
    assert_eq!(
        world.find("home/p").project_dirs,
        [world.at("home/p/.sortie")]
    );
}

#[test]
fn a_worktree_is_a_repository_of_its_own() {
    let world = World::new(&["p/.git", "p/.sortie", "p/tree/a", "home"]);
    fs::write(world.at("p/tree/.git"), "gitdir: ../.git/worktrees/tree\n").unwrap();
    let places = world.find("p/tree/a");
    assert_eq!(places.project_root, world.at("p/tree"));
    assert_eq!(places.project_dirs, [] as [PathBuf; 0]);
}

#[test]
fn a_home_is_nobodys_project() {
    let world = World::new(&["home/.git", "home/.sortie/agent", "home/notes"]);
    assert_eq!(world.find("home").project_dirs, [] as [PathBuf; 0]);
    assert_eq!(world.find("home/notes").project_dirs, [] as [PathBuf; 0]);
}

#[test]
fn a_file_of_that_name_is_no_folder() {
    let world = World::new(&["home/p/.git"]);
    fs::write(world.at("home/p/.sortie"), "").unwrap();
    assert_eq!(world.find("home/p").project_dirs, [] as [PathBuf; 0]);
}

#[test]
fn a_variable_moves_the_users_folder_and_no_other() {
    let world = World::new(&["home", "p"]);
    let environment = Environment::from_iter([
        ("HOME", world.at("home")),
        ("SORTIE_AGENT_DIR", PathBuf::from("mine")),
    ]);
    let names = [".omp".to_owned()];
    let places = Places::find(&world.at("p"), &environment, &names).unwrap();
    assert_eq!(places.user_dir, world.at("p/mine"));
    assert_eq!(
        places.user_dirs,
        [world.at("p/mine"), world.at("home/.omp/agent")]
    );
}

#[test]
fn without_a_home_there_is_a_problem() {
    let problem = Places::find(Path::new("/x"), &Environment::default(), &[]).unwrap_err();
    insta::assert_snapshot!(crate::shown::shown([&problem], Path::new("/nowhere")), @r#"
    error: there is no folder for your settings: `HOME` is not set
      set `HOME`, or name a folder in `SORTIE_AGENT_DIR`
    "#);
}

#[test]
fn runs_of_two_checkouts_do_not_meet() {
    assert_ne!(slug(Path::new("/a/app")), slug(Path::new("/b/app")));
    insta::assert_snapshot!(slug(Path::new("/home/me/My App")), @"My-App-d59302cd36aae240");
    insta::assert_snapshot!(slug(Path::new("/")), @"root-af63a24c860189fe");
    insta::assert_snapshot!(slug(Path::new("/home/me/.dotfiles")), @"dotfiles-49a163f52ec41e13");
}

proptest::proptest! {
    #[test]
    fn a_slug_is_one_plain_name(path in "(/[^/\0]{0,80}){0,4}") {
        let slug = slug(Path::new(&path));
        proptest::prop_assert!(!slug.starts_with('.') && slug.len() <= 80);
        proptest::prop_assert!(slug.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)));
    }
}
