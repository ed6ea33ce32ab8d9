//! The harness profiles: those in the home, then those that are built in.

use crate::git::plain_file;
use crate::holder;
use crate::home::Home;
use loop_core::config::ProfileName;
use loop_core::harness::Profiles;
use loop_core::profile::Profile;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The built-in profiles: the files of `templates/harnesses/`.
const BUILT_IN: &[&str] = include!(concat!(env!("OUT_DIR"), "/harnesses.rs"));

/// The longest profile that is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The profiles that there are.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Those that can be used.
    pub profiles: Profiles,
    /// Where those of the home stand.
    pub files: BTreeMap<ProfileName, PathBuf>,
    /// Files of the home that are no profiles: the name, and what is wrong.
    pub broken: BTreeMap<String, String>,
}

/// Finds all profiles. One of the home takes the place of a built-in one of the same
/// name; one that is broken does not give way to it silently.
///
/// # Errors
///
/// A [`ListError`], when the home's profiles cannot be listed.
pub fn find(home: &Home) -> Result<Found, ListError> {
    let folder = home.harness_profiles();
    let unlisted = |source| ListError {
        folder: folder.clone(),
        source,
    };
    let mut found = Found::default();
    for text in BUILT_IN {
        // A test reads each of them.
        if let Ok(profile) = Profile::parse(text) {
            let name = profile.name().clone();
            found.profiles.insert(name, Arc::new(profile));
        }
    }
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(unlisted(error)),
    };
    for entry in entries {
        let path = entry.map_err(unlisted)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let is_json = path.extension().is_some_and(|ext| ext == "json");
        let Some(stem) = stem.filter(|_| is_json) else {
            continue;
        };
        match read(&path, stem) {
            Ok(profile) => {
                found.files.insert(profile.name().clone(), path);
                let name = profile.name().clone();
                found.profiles.insert(name, Arc::new(profile));
            }
            Err(what) => {
                if let Ok(name) = stem.parse::<ProfileName>() {
                    found.profiles.remove(&name);
                }
                found.broken.insert(stem.to_owned(), what);
            }
        }
    }
    Ok(found)
}

/// Returns the text of the profile called `name`; `None` when there is none.
///
/// # Errors
///
/// What the system said, when one of the home cannot be read.
#[must_use]
pub fn text(found: &Found, name: &str) -> Option<io::Result<String>> {
    let (name, _) = found
        .profiles
        .iter()
        .find(|(known, _)| known.as_str() == name)?;
    if let Some(path) = found.files.get(name) {
        return Some(fs::read_to_string(path));
    }
    let is_it = |text: &&str| Profile::parse(text).is_ok_and(|profile| profile.name() == name);
    let text = BUILT_IN.iter().copied().find(is_it)?;
    Some(Ok(text.to_owned()))
}

/// Returns the path of a profile's program in an environment, if it is there.
#[must_use]
pub fn program(environment: &[(OsString, OsString)], profile: &Profile) -> Option<PathBuf> {
    let argv = profile.command().as_slice().iter().map(OsString::from);
    let environment = environment.iter().cloned().collect();
    let nowhere = PathBuf::new;
    let command = holder::Command::new(
        argv.collect(),
        PathBuf::from("/"),
        environment,
        [nowhere(), nowhere()],
        nowhere(),
    );
    command.find_program().ok()
}

/// Reads the profile at `path`, which has to be called as its file is.
fn read(path: &Path, stem: &str) -> Result<Profile, String> {
    let shown = path.display();
    let text = match plain_file::read(path, LONGEST) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(format!("{shown} is no plain file of at most 1 MiB")),
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    };
    let text = String::from_utf8(text).map_err(|error| format!("{shown}: {error}"))?;
    let profile =
        Profile::parse(&text).map_err(|error| error.with_file(shown.to_string()).to_string())?;
    let name = profile.name().as_str();
    if name != stem {
        return Err(format!(
            "{shown}: name: it is `{name}`, but the file is called `{stem}.json`; rename one"
        ));
    }
    Ok(profile)
}

impl Found {
    /// Returns what is wrong with the profile called `name`, if its file is broken.
    #[must_use]
    pub fn broken(&self, name: &str) -> Option<&str> {
        self.broken.get(name).map(String::as_str)
    }
}

/// The profiles of the home cannot be listed.
#[derive(Debug, Error)]
#[error("cannot list {}", folder.display())]
pub struct ListError {
    /// Where they would be.
    folder: PathBuf,
    source: io::Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        fs::create_dir_all(home.harness_profiles()).unwrap();
        for (name, text) in files {
            fs::write(home.harness_profiles().join(name), text).unwrap();
        }
        (dir, home)
    }

    const OWN: &str = r#"{"v": 1, "name": "NAME", "command": ["own"], "prompt_via": "stdin",
        "output": {"format": "text"}}"#;

    // rows: H-18, W-07
    #[test]
    fn every_shipped_profile_is_strictly_right_and_one_more_needs_no_code() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/harnesses");
        let mut stems: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned())
            .collect();
        stems.sort();
        let (_dir, home) = home_with(&[]);
        let found = find(&home).unwrap();
        let names: Vec<_> = found.profiles.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, stems);
        for name in names {
            assert!(text(&found, name).unwrap().unwrap().contains("\"v\": 1"));
        }
        assert!(text(&found, "nobody").is_none());
    }

    #[test]
    fn a_profile_of_the_home_takes_the_place_of_a_shipped_one() {
        let shipped = find(&home_with(&[]).1).unwrap();
        let name = shipped.profiles.keys().next().unwrap().as_str().to_owned();
        let own = OWN.replace("NAME", &name);
        let file = format!("{name}.json");
        let (_dir, home) = home_with(&[(&file, &own), ("README.md", "no profile")]);
        let found = find(&home).unwrap();
        let profile = &found.profiles[&name.parse::<ProfileName>().unwrap()];
        assert_eq!(profile.command().as_slice(), ["own"]);
        assert_eq!(found.profiles.len(), shipped.profiles.len());
        assert_eq!(text(&found, &name).unwrap().unwrap(), own);
    }

    #[test]
    fn a_broken_profile_is_told_and_gives_way_to_no_other() {
        let shipped = find(&home_with(&[]).1).unwrap();
        let name = shipped.profiles.keys().next().unwrap().clone();
        let file = format!("{}.json", name.as_str());
        let misnamed = OWN.replace("NAME", "other");
        for (bad, says) in [
            ("{", "harnesses/"),
            (misnamed.as_str(), "it is `other`, but the file is called"),
            (r#"{"v": 1, "nmae": "x"}"#, "nmae"),
        ] {
            let (_dir, home) = home_with(&[(&file, bad)]);
            let found = find(&home).unwrap();
            assert!(!found.profiles.contains_key(&name), "{bad}");
            let what = found.broken(name.as_str()).unwrap();
            assert!(what.contains(says), "{what}");
        }
    }
}
