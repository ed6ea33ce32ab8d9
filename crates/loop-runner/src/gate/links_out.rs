//! Links by which files from elsewhere would count in a clean checkout.

use super::GateError;
use super::lay::Tree;
use super::path_text::to_text;
use std::path::{Component, Path, PathBuf};

/// How many of them are named.
const NAMED: usize = 5;

impl Tree<'_> {
    /// Removes the links among `links` that lead out of the tree, and names them.
    /// One that leads to a place that is not there yet counts by its text.
    pub(super) fn remove_links_out(&self, links: &[&PathBuf]) -> Result<Vec<String>, GateError> {
        let root = self.root.canonicalize().ok();
        let leads_out = |path: &PathBuf| {
            let link = self.root.join(path);
            let target = std::fs::read_link(&link).ok();
            let by_text = target.is_none_or(|target| climbs_out(path, &target));
            // On the way there can be links that are followed before a `..`.
            let real = link.canonicalize().ok();
            by_text
                || real
                    .zip(root.as_ref())
                    .is_some_and(|(real, root)| !real.starts_with(root))
        };
        let out: Vec<_> = links.iter().filter(|path| leads_out(path)).collect();
        for path in &out {
            self.remove(path)?;
        }
        let mut named: Vec<_> = out.iter().take(NAMED).map(|path| to_text(path)).collect();
        if out.len() > NAMED {
            named.push(format!("{} more", out.len() - NAMED));
        }
        Ok(named)
    }
}

/// Whether the text of a link at `path` leads out of the tree that the path is in.
fn climbs_out(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count() - 1;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    // rows: D-13
    // cases: 89, 123
    #[test]
    fn only_links_that_stay_inside_are_kept() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("tree");
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir_all(root.join("top")).unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        fs::write(root.join("file"), "x").unwrap();
        let links = [
            ("in", "file", true),
            ("a/up", "../file", true),
            ("a/b/folder", "../../top", true),
            ("dangling", "gone/./file", true),
            ("absolute", "/etc/hostname", false),
            ("nowhere", "/no/such/place", false),
            ("a/out", "../../secret", false),
            ("later", "../later", false),
            // `a/b/e` is the top: by its text this stays inside.
            ("a/b/e", "../../top", true),
            ("a/b/c/odd", "../e/../../secret", false),
            ("chain", "a/out", false),
        ];
        for (path, target, _) in links {
            symlink(target, root.join(path)).unwrap();
        }
        let paths: Vec<_> = links.iter().map(|(path, ..)| PathBuf::from(path)).collect();
        let tree = Tree { root: &root };
        let named = tree
            .remove_links_out(&paths.iter().collect::<Vec<_>>())
            .unwrap();
        assert_eq!(
            named,
            [
                "absolute",
                "nowhere",
                "a/out",
                "later",
                "a/b/c/odd",
                "1 more"
            ]
        );
        for (path, target, is_kept) in links {
            assert_eq!(root.join(path).is_symlink(), is_kept, "{path} -> {target}");
        }
        assert!(outside.path().join("secret").exists());
    }
}
