//! Which project a command is about, and where its data lives.

use crate::git::{Configuration, OpenError, Repository};
use crate::home::Home;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a project's data.
const DATA: &str = ".automaton";

/// What version control leaves out below the data root: state, outputs and
/// logs; `loop.json`, prompts and task documents stay in (decision D-2).
const GITIGNORE: &str = "\
/loops/*/*
!/loops/*/loop.json
!/loops/*/*.md
/tasks/*/.*
";

/// A project: a folder, as a rule the top of a repository, with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
    data: PathBuf,
}

/// What is known of where a command was started.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// `--project DIR`, with `~` expanded.
    pub given: Option<&'a Path>,
    /// The value of `AUTOMATON_PROJECT`, which every child has.
    pub inherited: Option<&'a OsStr>,
    /// The current directory.
    pub here: &'a Path,
    /// The framework home.
    pub home: &'a Home,
}

/// There is no project to work on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The folder that was named is not there.
    #[error("no such folder: {}", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The repository around it cannot be read.
    #[error(transparent)]
    Repository(#[from] OpenError),
}

impl Project {
    /// Finds the project (decision D-2): the folder that was given; the one that
    /// was inherited; the nearest folder upwards that holds `.automaton/`, no
    /// higher than the repository's top level; that top level; the current
    /// directory. Outside a repository nothing above the current directory is
    /// looked at, and the framework home's own folder is never taken for a
    /// project's data.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when the folder is not there, or its repository cannot
    /// be read.
    pub fn find(search: &Search<'_>) -> Result<Self, ProjectError> {
        let inherited = search.inherited.filter(|v| !v.is_empty()).map(Path::new);
        if let Some(named) = search.given.or(inherited) {
            return Self::at(&search.here.join(named), search.home);
        }
        let top = Repository::discover(search.here, Configuration::User)?
            .and_then(|repository| repository.top_level().map(Path::to_owned));
        let here = canonical(search.here)?;
        let Some(top) = top.map(|top| canonical(&top)).transpose()? else {
            return Self::at(&here, search.home);
        };
        let root = here
            .ancestors()
            .take_while(|folder| folder.starts_with(&top))
            .find(|folder| holds_data(folder, search.home))
            .unwrap_or(&top);
        Self::at(root, search.home)
    }

    /// Takes the folder `root` for the project.
    ///
    /// # Errors
    ///
    /// [`ProjectError::Missing`] when it is not there.
    pub fn at(root: &Path, home: &Home) -> Result<Self, ProjectError> {
        let root = canonical(root)?;
        let is_home = home.root().canonicalize().is_ok_and(|home| home == root);
        let data = if is_home {
            root.clone()
        } else {
            root.join(DATA)
        };
        Ok(Self { root, data })
    }

    /// Returns the project's folder, absolute and without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of its data; for the framework home, that itself.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the folder of the loop called `name`.
    #[must_use]
    pub fn loop_dir(&self, name: &str) -> PathBuf {
        self.data.join("loops").join(name)
    }

    /// Lists the names of the loops, sorted; a loop is a folder with a
    /// `loop.json` of any kind, or with the record of one that has lost it.
    ///
    /// # Errors
    ///
    /// What the system said, when the folder of the loops cannot be read.
    pub fn loops(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.data.join("loops")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if holds_loop(&entry.path())
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Makes the data folder with its `.gitignore`; what is there stays. Returns
    /// the paths that were made.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn init(&self) -> io::Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        for folder in ["loops", "tasks"] {
            let folder = self.data.join(folder);
            if !folder.is_dir() {
                fs::create_dir_all(&folder)?;
                made.push(folder);
            }
        }
        let ignore = self.data.join(".gitignore");
        match fs::File::create_new(&ignore) {
            Ok(mut file) => {
                io::Write::write_all(&mut file, GITIGNORE.as_bytes())?;
                made.push(ignore);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(made)
    }
}

/// Whether `folder` is a loop's: what cannot be looked at may be one.
pub(crate) fn holds_loop(folder: &Path) -> bool {
    let is_absent = |file| match folder.join(file).symlink_metadata() {
        Ok(_) => false,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    };
    !(is_absent("loop.json") && is_absent("events.jsonl"))
}

fn canonical(path: &Path) -> Result<PathBuf, ProjectError> {
    path.canonicalize().map_err(|source| ProjectError::Missing {
        path: path.to_owned(),
        source,
    })
}

/// Whether `folder` holds the data of a project rather than the framework home.
fn holds_data(folder: &Path, home: &Home) -> bool {
    let data = folder.join(DATA);
    let same = |home: PathBuf| data.canonicalize().is_ok_and(|data| data == home);
    data.is_dir() && !home.root().canonicalize().is_ok_and(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        root: tempfile::TempDir,
        home: Home,
    }

    impl World {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let home = Home::new(root.path().join("user/.automaton"));
            fs::create_dir_all(home.root()).unwrap();
            Self { root, home }
        }

        fn make(&self, path: &str) -> PathBuf {
            let path = self.root.path().join(path);
            fs::create_dir_all(&path).unwrap();
            path.canonicalize().unwrap()
        }

        fn repository(&self, path: &str) -> PathBuf {
            let path = self.make(path);
            for folder in ["objects", "refs/heads"] {
                fs::create_dir_all(path.join(".git").join(folder)).unwrap();
            }
            fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(
                path.join(".git/config"),
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
            )
            .unwrap();
            path
        }

        fn find(&self, here: &Path) -> PathBuf {
            let search = Search {
                given: None,
                inherited: None,
                here,
                home: &self.home,
            };
            Project::find(&search).unwrap().root
        }
    }

    // rows: U-02, U-03
    #[test]
    fn the_nearest_data_folder_inside_the_repository_wins() {
        let world = World::new();
        let repository = world.repository("user/src/app");
        let deep = world.make("user/src/app/packages/a/src");
        assert_eq!(world.find(&deep), repository, "the top level without data");
        let package = world.make("user/src/app/packages/a");
        world.make("user/src/app/packages/a/.automaton");
        assert_eq!(world.find(&deep), package);
        assert_eq!(world.find(&repository), repository);
    }

    // rows: U-03
    #[test]
    fn the_homes_own_folder_is_never_a_projects_data() {
        let world = World::new();
        let plain = world.make("user/notes/deep");
        assert_eq!(world.find(&plain), plain, "nothing above is looked at");
        let user = world.repository("user");
        assert_eq!(
            world.find(&plain),
            user,
            "although user/.automaton is there"
        );
    }

    // rows: U-02, C-19
    #[test]
    fn a_named_folder_wins_over_an_inherited_one() {
        let world = World::new();
        let (a, b) = (world.make("a"), world.make("b"));
        let search = Search {
            given: Some(Path::new("a")),
            inherited: Some(b.as_os_str()),
            here: world.root.path(),
            home: &world.home,
        };
        assert_eq!(Project::find(&search).unwrap().root(), a);
        let inherited = Search {
            given: None,
            ..search
        };
        assert_eq!(Project::find(&inherited).unwrap().root(), b);
        let missing = Search {
            given: Some(Path::new("no")),
            ..search
        };
        assert!(matches!(
            Project::find(&missing),
            Err(ProjectError::Missing { .. })
        ));
    }

    // rows: U-02
    #[test]
    fn the_home_is_a_project_whose_data_is_itself() {
        let world = World::new();
        let project = Project::at(world.home.root(), &world.home).unwrap();
        assert_eq!(project.data(), project.root());
        assert_eq!(project.init().unwrap().len(), 3);
        assert_eq!(project.init().unwrap(), Vec::<PathBuf>::new());
        fs::create_dir_all(project.loop_dir("b")).unwrap();
        fs::write(project.loop_dir("b").join("loop.json"), "{}").unwrap();
        fs::create_dir_all(project.loop_dir("empty")).unwrap();
        fs::create_dir_all(project.loop_dir("lost")).unwrap();
        fs::write(project.loop_dir("lost").join("events.jsonl"), "").unwrap();
        fs::create_dir_all(project.loop_dir("odd").join("loop.json")).unwrap();
        assert_eq!(project.loops().unwrap(), ["b", "lost", "odd"]);
    }
}
