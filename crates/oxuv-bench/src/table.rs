//! Tables for people, in Markdown: the same for the terminal and for the file.

use crate::results::{Figure, Results, Row};

/// The table of a figure; `None` if nobody was measured by that.
pub(crate) fn markdown(results: &Results, figure: Figure) -> Option<String> {
    let columns = 0..results.contestants.len();
    let cells = |row: &Row| -> Vec<String> { columns.clone().map(|at| cell(results, row, figure, at)).collect() };
    let measured = results.rows.iter().filter(|row| columns.clone().any(|at| results.value(row, figure, at).is_some()));
    let mut lines: Vec<Vec<String>> = measured
        .map(|row| {
            let mut line = vec![row.workload.title.to_owned()];
            line.extend(cells(row));
            line
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let titles = results.contestants.iter().map(|contestant| contestant.title().to_owned());
    lines.insert(0, [String::new()].into_iter().chain(titles).collect());
    Some(aligned(&lines))
}

/// Columns are as wide as they must be: the first begins at the left, and the others end at the right.
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |at: usize| lines.iter().map(|line| line[at].len()).max().unwrap_or(0).max(2);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for (nth, line) in lines.iter().enumerate() {
        for (at, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            text += &if at == 0 { format!("| {cell:width$} |") } else { format!(" {cell:>width$} |") };
        }
        text.push('\n');
        if nth == 0 {
            for (at, &width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width);
                text += &if at == 0 { format!("| {dashes} |") } else { format!(" {}: |", &dashes[1..]) };
            }
            text.push('\n');
        }
    }
    text
}

fn cell(results: &Results, row: &Row, figure: Figure, at: usize) -> String {
    let Some(value) = results.value(row, figure, at) else { return "-".into() };
    let value = short(value.median);
    match results.ratio(row, figure, at) {
        None => value,
        Some(ratio) if figure.wobbles() => {
            format!("{value} ({:.2} [{:.2}, {:.2}])", ratio.median, ratio.low, ratio.high)
        }
        Some(ratio) => format!("{value} ({:.2})", ratio.median),
    }
}

fn short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up;

    #[test]
    fn a_cell_has_the_median_the_ratio_and_its_quartiles() {
        let results = made_up::results();
        let lines = [
            "|                |                  oxuv (C) | libuv 1.53 |                     mio |",
            "| -------------- | ------------------------: | ---------: | ----------------------: |",
            "| echo: 1 x 64 B | 50.00 (0.50 [0.50, 0.60]) |        100 | 150 (1.50 [1.50, 2.00]) |",
        ];
        assert_eq!(markdown(&results, Figure::Cpu).unwrap().lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn only_what_was_measured_has_a_line() {
        let results = made_up::results();
        let counts = markdown(&results, Figure::Instructions).unwrap();
        assert_eq!(counts.lines().count(), 3);
        assert!(counts.contains("| 250 (0.25) |       1000 |   - |"), "{counts}");
        assert!(markdown(&results, Figure::Memory).unwrap().contains("100 (0.50)"));
        assert_eq!(markdown(&results, Figure::Rate), None);
    }
}
