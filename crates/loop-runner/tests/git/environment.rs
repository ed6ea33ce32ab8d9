//! What the environment and the configuration may influence, and what they may not.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use loop_runner::git::{Changes, Configuration, Reach, Recorded, Repository, Workspace};

use crate::sandbox::{BRANCH, GO, Sandbox, ensure_at, git, hash, open, write};

/// Names the sandbox to a process of the test.
const ROOT: &str = "GIT_TEST_ROOT";

/// Runs a test of this file in a process with another environment.
fn run(test: &str, sandbox: &Sandbox, environment: &[(&str, OsString)]) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("environment::{test}"), "--ignored"])
        .env(ROOT, sandbox.root())
        .envs(environment.iter().cloned())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{test}");
    assert!(sandbox.root().join(test).exists(), "{test} did not run");
}

/// The sandbox's folder, in a process that [`run`] started, and the proof that the test ran.
fn root(test: &str) -> Option<PathBuf> {
    let root = PathBuf::from(std::env::var_os(ROOT)?);
    fs::write(root.join(test), "").unwrap();
    Some(root)
}

/// The part of [`git_variables_have_no_influence`] with the variables set.
#[test]
#[ignore = "started by another test"]
fn under_git_variables() {
    let Some(root) = root("under_git_variables") else {
        return;
    };
    let repository = Repository::discover(&root.join("main"), Configuration::User).unwrap();
    let repository = repository.unwrap();
    assert_eq!(repository.top_level().unwrap(), root.join("main"));
    assert_eq!(repository.git_dir(), root.join("main/.git"));
    assert_eq!(repository.head().unwrap().branch.as_deref(), Some("trunk"));
    let worktree = ensure_at(&repository, &root.join("dest"), None).unwrap();
    assert_eq!(worktree.recorded.branch, BRANCH);
    write(&root.join("dest"), "new", "x");
    let workspace = Workspace::of_worktree(&repository, &worktree.recorded, Path::new("")).unwrap();
    let changes = Changes::since_commit(&workspace, &worktree.recorded.base, Reach::Project, &GO);
    assert_eq!(changes.unwrap().list().len(), 1);
    fs::write(root.join("hash"), hash(&workspace).as_str()).unwrap();
    let nowhere = Repository::discover(&root.join("elsewhere"), Configuration::User).unwrap();
    assert!(nowhere.is_none());
}

// cases: 87
#[test]
fn git_variables_have_no_influence() {
    let sandbox = Sandbox::new();
    let other = Sandbox::new();
    fs::create_dir(sandbox.root().join("elsewhere")).unwrap();
    let before = (sandbox.users_things(), other.users_things());
    let git_dir = other.main().join(".git");
    let environment = [
        ("GIT_DIR", git_dir.clone().into_os_string()),
        ("GIT_COMMON_DIR", git_dir.clone().into_os_string()),
        ("GIT_WORK_TREE", other.main().into_os_string()),
        ("GIT_INDEX_FILE", git_dir.join("index").into_os_string()),
        (
            "GIT_OBJECT_DIRECTORY",
            git_dir.join("objects").into_os_string(),
        ),
        ("GIT_NAMESPACE", "other".into()),
        ("GIT_CEILING_DIRECTORIES", sandbox.root().into_os_string()),
        ("GIT_CONFIG_COUNT", "1".into()),
        ("GIT_CONFIG_KEY_0", "core.excludesFile".into()),
        (
            "GIT_CONFIG_VALUE_0",
            sandbox.root().join("all").into_os_string(),
        ),
        ("HOME", sandbox.root().into_os_string()),
    ];
    write(&sandbox.root(), "all", "*\n");

    run("under_git_variables", &sandbox, &environment);

    assert_eq!((sandbox.users_things(), other.users_things()), before);
    let dest = sandbox.root().join("dest");
    let hash_here = fs::read_to_string(sandbox.root().join("hash")).unwrap();
    let copy = Workspace::in_place(&open(&dest), &dest);
    assert_eq!(hash(&copy).as_str(), hash_here);
}

/// The part of [`the_users_configuration_counts_as_data`] with a home.
#[test]
#[ignore = "started by another test"]
fn under_a_home() {
    let Some(root) = root("under_a_home") else {
        return;
    };
    let hash_with = |configuration| {
        let repository = Repository::discover(&root.join("main"), configuration);
        hash(&Workspace::in_place(
            &repository.unwrap().unwrap(),
            &root.join("main"),
        ))
    };
    let (user, own) = (Configuration::User, Configuration::RepositoryOnly);
    let before = [hash_with(user), hash_with(own)];
    write(&root.join("main"), "a.swp", "x");
    let after = [hash_with(user), hash_with(own)];
    assert_eq!(before[0], after[0]);
    assert_ne!(before[1], after[1]);
}

// rows: D-19
#[test]
fn the_users_configuration_counts_as_data() {
    let sandbox = Sandbox::new();
    write(
        &sandbox.root(),
        ".gitconfig",
        "[core]\n\texcludesFile = ~/ignore\n",
    );
    write(&sandbox.root(), "ignore", "*.swp\n");
    run(
        "under_a_home",
        &sandbox,
        &[("HOME", sandbox.root().into_os_string())],
    );
}

// rows: X-16
#[test]
fn a_configuration_of_the_main_worktree_is_taken_over_and_recorded() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "extensions.worktreeConfig", "true"]);
    sandbox.git(&["config", "--worktree", "core.autocrlf", "false"]);
    let recorded = sandbox.worktree();
    let own = sandbox.main().join(".git/worktrees/fix/config.worktree");
    assert!(own.exists());
    assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
    assert_eq!(sandbox.ensure(None).unwrap().recorded, recorded);

    git(
        &sandbox.dest(),
        &["config", "--worktree", "core.fsmonitor", "true"],
    );
    Workspace::of_worktree(&sandbox.repository(), &recorded, Path::new("")).unwrap_err();
}

// cases: 84
#[test]
fn a_sparse_checkout_has_a_worktree_with_everything() {
    let sandbox = Sandbox::new();
    sandbox.write("docs/a", "x");
    sandbox.commit("docs");
    sandbox.git(&["sparse-checkout", "set", "docs"]);
    assert!(!sandbox.main().join("src").exists());
    let before = sandbox.users_things();
    let recorded = sandbox.worktree();
    assert!(sandbox.dest().join("src/lib.rs").exists());
    assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
    assert_eq!(changed(&sandbox, &recorded), 0);
    // In place, what is not there was not there before either.
    assert_eq!(sandbox.hash(), sandbox.hash());
    assert_eq!(sandbox.users_things(), before);
}

fn changed(sandbox: &Sandbox, recorded: &Recorded) -> usize {
    let workspace = sandbox.workspace(recorded);
    let changes = Changes::since_commit(&workspace, &recorded.base, Reach::Repository, &GO);
    changes.unwrap().list().len()
}

// rows: X-16
#[test]
fn crlf_settings_of_the_repository_hold_in_the_worktree() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.autocrlf", "true"]);
    let recorded = sandbox.worktree();
    assert_eq!(
        fs::read(sandbox.dest().join("README.md")).unwrap(),
        b"hello\r\n"
    );
    assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
    assert_eq!(changed(&sandbox, &recorded), 0);
}

/// An agent can write the shared configuration, if nothing else holds it.
// rows: X-16; cases: 87
#[test]
fn the_shared_configuration_does_not_lead_elsewhere() {
    for (key, value) in [("core.worktree", "/"), ("core.bare", "true")] {
        let sandbox = Sandbox::new();
        let recorded = sandbox.worktree();
        sandbox.git(&["config", key, value]);
        write(&sandbox.dest(), "new", "x");
        let repository = open(&sandbox.main());
        match Workspace::of_worktree(&repository, &recorded, Path::new("")) {
            Err(replaced) => assert!(replaced.what.contains("another folder"), "{replaced}"),
            Ok(_) => assert_eq!(changed(&sandbox, &recorded), 1, "{key}"),
        }
    }
}
