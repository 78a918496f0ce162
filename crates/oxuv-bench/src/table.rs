//! Tables for people.

use crate::contestant::Contestant;

pub(crate) struct Table {
    title: &'static str,
    contestants: Vec<Contestant>,
    rows: Vec<(String, Vec<String>)>,
}

impl Table {
    pub(crate) fn new(title: &'static str, contestants: &[Contestant]) -> Table {
        Table { title, contestants: contestants.to_vec(), rows: Vec::new() }
    }

    /// A row of plain numbers, each followed by its ratio to libuv's.
    pub(crate) fn numbers(&mut self, label: &str, values: &[Option<f64>]) {
        let libuv = self.contestants.iter().position(|&contestant| contestant == Contestant::Libuv);
        let base = libuv.and_then(|at| values[at]).filter(|&base| base > 0.0);
        let cell = |(at, value): (usize, &Option<f64>)| match (value, base) {
            (None, _) => "-".to_owned(),
            (Some(value), Some(base)) if Some(at) != libuv => format!("{} ({:.2})", short(*value), value / base),
            (Some(value), _) => short(*value),
        };
        self.texts(label, values.iter().enumerate().map(cell).collect());
    }

    pub(crate) fn texts(&mut self, label: &str, cells: Vec<String>) {
        self.rows.push((label.to_owned(), cells));
    }

    pub(crate) fn print(&self) {
        println!("\n{}\n", self.title);
        let titles: Vec<String> = self.contestants.iter().map(|contestant| contestant.title().to_owned()).collect();
        let cells = |at: usize| self.rows.iter().map(move |(_, cells)| cells[at].len());
        let widths: Vec<usize> =
            titles.iter().enumerate().map(|(at, title)| cells(at).chain([title.len()]).max().unwrap_or(0)).collect();
        let label_width = self.rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let print = |label: &str, cells: &[String]| {
            let cells: Vec<String> =
                cells.iter().zip(&widths).map(|(cell, &width)| format!(" | {cell:>width$}")).collect();
            println!("{label:label_width$}{}", cells.concat());
        };
        print("", &titles);
        for (label, cells) in &self.rows {
            print(label, cells);
        }
    }
}

fn short(value: f64) -> String {
    // What is left of runs that were subtracted is noise below this.
    let value = if value.abs() < 0.005 { 0.0 } else { value };
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
