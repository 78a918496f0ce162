//! What was measured, and what follows from it: medians, and ratios to libuv.

use crate::contestant::Contestant;
use crate::workload::Workload;

#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) contestants: Vec<Contestant>,
    pub(crate) rows: Vec<Row>,
    /// Who could not be measured at what, and why.
    pub(crate) failures: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) workload: &'static Workload,
    /// One for each contestant.
    pub(crate) cells: Vec<Cell>,
}

/// What a contestant needs for an operation. What was not measured is `None`, or empty.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cell {
    pub(crate) instructions: Option<f64>,
    pub(crate) allocations: Option<f64>,
    pub(crate) system_calls: Option<f64>,
    /// Nanoseconds of CPU time, round by round: the same round at the same place for all contestants.
    pub(crate) cpu: Vec<f64>,
    /// Operations per second, round by round.
    pub(crate) rate: Vec<f64>,
    /// Bytes of each handle or connection.
    pub(crate) memory: Option<f64>,
    /// It is not measured any further, and what was measured does not count.
    pub(crate) has_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Cpu,
    Rate,
    Instructions,
    SystemCalls,
    Allocations,
    Memory,
}

impl Figure {
    pub(crate) const ALL: [Figure; 6] =
        [Figure::Cpu, Figure::Rate, Figure::Instructions, Figure::SystemCalls, Figure::Allocations, Figure::Memory];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Figure::Cpu => "cpu_nanoseconds",
            Figure::Rate => "operations_per_second",
            Figure::Instructions => "instructions",
            Figure::SystemCalls => "system_calls",
            Figure::Allocations => "allocations",
            Figure::Memory => "bytes",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Figure::Cpu => "CPU time per operation in nanoseconds: median, ratio to libuv [quartiles]",
            Figure::Rate => "Operations per second: median, ratio to libuv [quartiles]",
            Figure::Instructions => "User instructions per operation (ratio to libuv)",
            Figure::SystemCalls => "System calls per operation (ratio to libuv)",
            Figure::Allocations => "Allocations per operation (ratio to libuv)",
            Figure::Memory => "Memory in bytes (ratio to libuv)",
        }
    }

    /// One that is different in each round.
    pub(crate) fn wobbles(self) -> bool {
        matches!(self, Figure::Cpu | Figure::Rate)
    }
}

/// The quartiles of some values; those of one value are that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let quantile =
            |part: f64| values.get(((values.len().saturating_sub(1)) as f64 * part).round() as usize).copied();
        Some(Spread { low: quantile(0.25)?, median: quantile(0.5)?, high: quantile(0.75)? })
    }
}

impl Cell {
    /// What was measured, one or several times.
    fn values(&self, figure: Figure) -> Vec<f64> {
        let values = match figure {
            Figure::Cpu => self.cpu.clone(),
            Figure::Rate => self.rate.clone(),
            Figure::Instructions => self.instructions.into_iter().collect(),
            Figure::SystemCalls => self.system_calls.into_iter().collect(),
            Figure::Allocations => self.allocations.into_iter().collect(),
            Figure::Memory => self.memory.into_iter().collect(),
        };
        // What is left of runs that were subtracted is noise below this.
        values.into_iter().map(|value| if value.abs() < 0.005 { 0.0 } else { value }).collect()
    }
}

impl Results {
    /// What a contestant has come to.
    pub(crate) fn value(&self, row: &Row, figure: Figure, at: usize) -> Option<Spread> {
        Spread::of(row.cells[at].values(figure))
    }

    /// The ratio to libuv, each to that of the same round; `None` for libuv itself, and where it has nothing.
    pub(crate) fn ratio(&self, row: &Row, figure: Figure, at: usize) -> Option<Spread> {
        let libuv = self.contestants.iter().position(|&contestant| contestant == Contestant::Libuv)?;
        if at == libuv || self.value(row, figure, libuv)?.median <= 0.0 {
            return None;
        }
        let (own, theirs) = (row.cells[at].values(figure), row.cells[libuv].values(figure));
        Spread::of(own.iter().zip(&theirs).map(|(own, theirs)| own / theirs).collect())
    }

    /// Where a contestant's operation costs more CPU time than libuv's, and not by chance: three rounds of four say so.
    pub(crate) fn dearer(&self, contestant: Contestant) -> Vec<(&Row, Spread)> {
        let Some(at) = self.contestants.iter().position(|&each| each == contestant) else { return Vec::new() };
        let ratios = self.rows.iter().filter_map(|row| Some((row, self.ratio(row, Figure::Cpu, at)?)));
        ratios.filter(|(_, ratio)| ratio.low > 1.0).collect()
    }
}

/// Made-up results for tests of what is made of results.
#[cfg(test)]
pub(crate) mod made_up {
    use super::*;

    /// libuv needs 100 nanoseconds and 1000 instructions, ours in C a half and a quarter; mio is only timed, and dearer.
    pub(crate) fn results() -> Results {
        let cell = |cpu: &[f64], instructions| Cell { cpu: cpu.to_vec(), instructions, ..Cell::default() };
        let workload = |name| Workload::from_name(name).unwrap();
        let rows = vec![
            Row {
                workload: workload("echo-1"),
                cells: vec![
                    cell(&[50.0, 40.0, 66.0], Some(250.0)),
                    cell(&[100.0, 100.0, 110.0], Some(1000.0)),
                    cell(&[150.0, 140.0, 220.0], None),
                ],
            },
            Row {
                workload: workload("memory-timer"),
                cells: vec![
                    Cell { memory: Some(100.0), ..Cell::default() },
                    Cell { memory: Some(200.0), ..Cell::default() },
                    Cell::default(),
                ],
            },
        ];
        let contestants = vec![Contestant::C, Contestant::Libuv, Contestant::Mio];
        Results { contestants, rows, failures: vec!["mio, turn: it has <fallen>".into()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_same_round() {
        let results = made_up::results();
        let row = &results.rows[0];
        let spread = |low, median, high| Some(Spread { low, median, high });
        // The rounds' ratios are 0.5, 0.4 and 0.6, and that of the medians were 0.5 as well; but not the quartiles.
        assert_eq!(results.ratio(row, Figure::Cpu, 0), spread(0.5, 0.5, 0.6));
        assert_eq!(results.ratio(row, Figure::Instructions, 0), spread(0.25, 0.25, 0.25));
        assert_eq!(results.value(row, Figure::Cpu, 2), spread(150.0, 150.0, 220.0));
    }

    #[test]
    fn there_is_no_ratio_of_what_was_not_measured() {
        let mut results = made_up::results();
        assert_eq!(results.ratio(&results.rows[0], Figure::Cpu, 1), None);
        assert_eq!(results.ratio(&results.rows[0], Figure::Instructions, 2), None);
        assert_eq!(results.ratio(&results.rows[1], Figure::Cpu, 0), None);
        // Nothing but the noise of a subtraction.
        results.rows[0].cells[1].instructions = Some(0.004);
        assert_eq!(results.ratio(&results.rows[0], Figure::Instructions, 0), None);
    }

    #[test]
    fn what_is_dearer_is_told() {
        let results = made_up::results();
        assert!(results.dearer(Contestant::C).is_empty());
        assert!(results.dearer(Contestant::Tokio).is_empty());
        let dearer = results.dearer(Contestant::Mio);
        assert_eq!(dearer.len(), 1);
        assert_eq!(dearer[0].0.workload.name, "echo-1");
    }
}
