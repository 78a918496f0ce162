//! The files that the comparison writes, for those who do not run it.

mod json;
mod machine;
mod page;
mod picture;

use std::path::Path;

pub(crate) use machine::Machine;

use crate::results::Results;

/// What was run, where, and what came of it.
pub(crate) struct Report<'a> {
    pub(crate) results: &'a Results,
    pub(crate) machine: &'a Machine,
    /// How the programs were compiled.
    pub(crate) how: &'a str,
    pub(crate) rounds: usize,
}

impl Report<'_> {
    /// Writes the page, its picture, and the numbers for other programs, into the repository's `docs`.
    pub(crate) fn write(&self) -> Result<(), String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let files = [
            ("comparison.md", page::markdown(self)),
            ("comparison.json", json::text(self)),
            ("comparison.svg", picture::svg(self.results)),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            println!("{}", path.display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod made_up {
    use super::*;

    /// A report of made-up results, for tests.
    pub(super) fn with_report(test: impl FnOnce(&Report<'_>)) {
        let results = crate::results::made_up::results();
        let machine = Machine::made_up();
        test(&Report { results: &results, machine: &machine, how: "with care", rounds: 3 });
    }
}
