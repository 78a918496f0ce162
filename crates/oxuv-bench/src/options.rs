//! What is to be measured, from the command line.

use crate::contestant::Contestant;
use crate::measure::Group;
use crate::workload::Workload;

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) contestants: Vec<Contestant>,
    pub(crate) workloads: Vec<&'static Workload>,
    pub(crate) groups: Vec<Group>,
    /// Who is to use io_uring, if that is told.
    pub(crate) ring: Option<Vec<Contestant>>,
    pub(crate) rounds: usize,
    pub(crate) is_quick: bool,
    /// The results go into files, too.
    pub(crate) is_written: bool,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let (mut contestants, mut workloads) = (Contestant::ALL.to_vec(), Workload::ALL.iter().collect::<Vec<_>>());
        let (mut is_quick, mut is_written, mut rounds, mut groups, mut ring) = (false, false, None, Vec::new(), None);
        for &word in words {
            if let Some(names) = word.strip_prefix("--only=") {
                contestants = names.split(',').map(Contestant::from_name).collect::<Result<_, _>>()?;
            } else if let Some(names) = word.strip_prefix("--at=") {
                workloads = names.split(',').map(Workload::from_name).collect::<Result<_, _>>()?;
            } else if let Some(names) = word.strip_prefix("--ring=") {
                let names = names.split(',').filter(|&name| name != "none");
                ring = Some(names.map(Contestant::from_name).collect::<Result<_, _>>()?);
            } else if let Some(number) = word.strip_prefix("--rounds=") {
                let number = number.parse().ok().filter(|&number| number > 0);
                rounds = Some(number.ok_or_else(|| format!("{word:?}: there is at least one round"))?);
            } else if let Some(group) = Group::from_name(word) {
                groups.push(group);
            } else {
                match word {
                    "--quick" => is_quick = true,
                    "--write" => is_written = true,
                    _ => return Err(format!("{word:?} is unknown")),
                }
            }
        }
        if groups.is_empty() {
            groups = Group::ALL.to_vec();
        }
        let rounds = rounds.unwrap_or(if is_quick { 5 } else { 15 });
        Ok(Options { contestants, workloads, groups, ring, rounds, is_quick, is_written })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_words_everything_is_measured_and_nothing_written() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options.contestants, Contestant::ALL);
        assert_eq!((options.workloads.len(), options.groups.len()), (Workload::ALL.len(), Group::ALL.len()));
        assert_eq!((options.rounds, options.is_quick, options.is_written), (15, false, false));
        assert_eq!(options.ring, None);
    }

    #[test]
    fn words_choose() {
        let words = ["--quick", "--rounds=7", "--only=c,mio", "--at=turn", "--ring=none", "--write", "times", "memory"];
        let options = Options::parse(&words).unwrap();
        assert_eq!(options.contestants, [Contestant::C, Contestant::Mio]);
        assert_eq!(options.workloads, [Workload::from_name("turn").unwrap()]);
        assert_eq!(options.groups, [Group::Times, Group::Memory]);
        assert_eq!((options.rounds, options.is_quick, options.is_written), (7, true, true));
        assert_eq!(options.ring, Some(Vec::new()));
        assert_eq!(Options::parse(&["--quick"]).unwrap().rounds, 5);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for word in ["--rounds=0", "--rounds=many", "--only=nginx", "--at=nothing", "--swift", "counts"] {
            let error = Options::parse(&[word]).unwrap_err();
            assert!(!error.is_empty(), "{word}");
        }
    }
}
