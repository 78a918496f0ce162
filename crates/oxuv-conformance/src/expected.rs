//! The list of expected results, and how results differ from it.

use std::collections::BTreeMap;
use std::fmt;

use crate::outcome::Outcome;

/// Whose results: a test may give something else when it does not run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// User 0.
    Root,
    /// Any other user.
    Other,
}

/// What is expected of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// As root, if it has been run so.
    pub root: Option<Outcome>,
    /// As another user, if it has been run so.
    pub other: Option<Outcome>,
    /// For the reader. A note that begins with `flaky` lets the test be tried anew.
    pub note: String,
}

impl Entry {
    fn outcome(&self, column: Column) -> Option<&Outcome> {
        match column {
            Column::Root => self.root.as_ref(),
            Column::Other => self.other.as_ref(),
        }
    }

    fn outcome_mut(&mut self, column: Column) -> &mut Option<Outcome> {
        match column {
            Column::Root => &mut self.root,
            Column::Other => &mut self.other,
        }
    }
}

/// Results by the name of the test.
pub type Results = BTreeMap<String, Outcome>;

/// The list of expected results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected(pub BTreeMap<String, Entry>);

/// How a result is unlike what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Worse than expected.
    Worse,
    /// Expected, but there is no such test.
    Vanished,
    /// Not in the list.
    New,
    /// Better than expected: the list is to be updated.
    Better,
    /// As bad as expected, or skipped, in another way.
    Changed,
}

impl Kind {
    /// Whether it makes the list wrong. One way to fail is as good as another.
    pub fn matters(self) -> bool {
        self != Kind::Changed
    }
}

/// A result that is unlike what is expected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// How.
    pub kind: Kind,
    /// The test.
    pub test: String,
    /// What the list says.
    pub expected: Option<Outcome>,
    /// What came.
    pub found: Option<Outcome>,
}

const HEAD: &str = "# test\troot\tother user (= as root)\tnote\n";

impl Expected {
    /// Reads the list: a test a line, with fields between tabs.
    pub fn parse(text: &str) -> Result<Expected, String> {
        let mut entries = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let at = |error: String| format!("line {}: {error}", number + 1);
            let fields: Vec<&str> = line.split('\t').collect();
            let (&test, &root, &other) = match &fields[..] {
                [test, root, other] | [test, root, other, _] => (test, root, other),
                _ => return Err(at("not three or four fields between tabs".into())),
            };
            let outcome = |field: &str| match field {
                "-" => Ok(None),
                field => field.parse().map(Some).map_err(at),
            };
            let root = outcome(root)?;
            let other = if other == "=" { root.clone() } else { outcome(other)? };
            let note = fields.get(3).copied().unwrap_or_default().to_owned();
            if entries.insert(test.to_owned(), Entry { root, other, note }).is_some() {
                return Err(at(format!("{test} is there twice")));
            }
        }
        Ok(Expected(entries))
    }

    /// Whether the test may be tried anew.
    pub fn is_flaky(&self, test: &str) -> bool {
        self.0.get(test).is_some_and(|entry| entry.note.starts_with("flaky"))
    }

    /// What is expected of a test.
    pub fn outcome(&self, test: &str, column: Column) -> Option<&Outcome> {
        self.0.get(test)?.outcome(column)
    }

    /// The differences, the worst first. Tests without a result are taken as vanished if all have been run.
    pub fn compare(&self, results: &Results, column: Column, all_run: bool) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (test, found) in results {
            let expected = self.outcome(test, column);
            let kind = match expected {
                None => Kind::New,
                Some(expected) if expected == found => continue,
                Some(expected) if found.rank() < expected.rank() => Kind::Worse,
                Some(expected) if found.rank() > expected.rank() => Kind::Better,
                Some(_) => Kind::Changed,
            };
            let (expected, found) = (expected.cloned(), Some(found.clone()));
            differences.push(Difference { kind, test: test.clone(), expected, found });
        }
        let missed = self.0.iter().filter(|(test, _)| all_run && !results.contains_key(*test));
        for (test, entry) in missed {
            if let expected @ Some(_) = entry.outcome(column).cloned() {
                differences.push(Difference { kind: Kind::Vanished, test: test.clone(), expected, found: None });
            }
        }
        differences.sort();
        differences
    }

    /// Takes the results over. Tests that have vanished are dropped.
    pub fn update(&mut self, results: &Results, column: Column, all_run: bool) {
        for (test, found) in results {
            let entry = self.0.entry(test.clone()).or_default();
            *entry.outcome_mut(column) = Some(found.clone());
        }
        if all_run {
            self.0.retain(|test, _| results.contains_key(test));
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (test, Entry { root, other, note }) in &self.0 {
            let field = |outcome: &Option<Outcome>| outcome.as_ref().map_or("-".into(), Outcome::to_string);
            let other = if root == other && root.is_some() { "=".into() } else { field(other) };
            write!(f, "{test}\t{}\t{other}", field(root))?;
            if !note.is_empty() {
                write!(f, "\t{note}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let or_none = |outcome: &Option<Outcome>| outcome.as_ref().map_or("nothing".into(), Outcome::to_string);
        write!(f, "{kind:8} {}: {} -> {}", self.test, or_none(&self.expected), or_none(&self.found))
    }
}
