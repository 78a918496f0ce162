//! The numbers, for other programs.

use serde_json::{Map, Value, json};

use super::Report;
use crate::results::{Figure, Row, Spread};

pub(super) fn text(report: &Report<'_>) -> String {
    let results = report.results;
    let machine: Map<String, Value> =
        report.machine.lines.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    let contestants: Map<String, Value> =
        results.contestants.iter().map(|each| (each.name().to_owned(), json!(each.title()))).collect();
    let value = json!({
        "machine": machine,
        "how": report.how,
        "rounds": report.rounds,
        "contestants": contestants,
        "workloads": results.rows.iter().map(|row| of_row(report, row)).collect::<Vec<_>>(),
        "failures": results.failures,
    });
    format!("{value:#}\n")
}

fn of_row(report: &Report<'_>, row: &Row) -> Value {
    let mut figures = Map::new();
    for figure in Figure::ALL {
        let mut of_figure = Map::new();
        for (at, contestant) in report.results.contestants.iter().enumerate() {
            let Some(value) = report.results.value(row, figure, at) else { continue };
            let ratio = report.results.ratio(row, figure, at);
            let entry = if figure.wobbles() {
                json!({ "value": quartiles(value), "ratio": ratio.map(quartiles) })
            } else {
                json!({ "value": rounded(value.median), "ratio": ratio.map(|ratio| rounded(ratio.median)) })
            };
            of_figure.insert(contestant.name().to_owned(), entry);
        }
        if !of_figure.is_empty() {
            figures.insert(figure.name().to_owned(), Value::Object(of_figure));
        }
    }
    json!({ "name": row.workload.name, "title": row.workload.title, "figures": figures })
}

/// The first, the second and the third.
fn quartiles(spread: Spread) -> Value {
    json!([spread.low, spread.median, spread.high].map(rounded))
}

/// No more digits than mean something.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::with_report;

    #[test]
    fn a_program_reads_what_was_measured() {
        with_report(|report| {
            let value: Value = serde_json::from_str(&text(report)).unwrap();
            assert_eq!(value["machine"]["processor"], "an abacus");
            assert_eq!((&value["rounds"], &value["how"]), (&json!(3), &json!("with care")));
            assert_eq!(value["contestants"]["c"], "oxuv (C)");
            assert_eq!(value["failures"][0], "mio, turn: it has <fallen>");
            let echo = &value["workloads"][0];
            assert_eq!(echo["name"], "echo-1");
            assert_eq!(echo["figures"]["cpu_nanoseconds"]["c"]["ratio"], json!([0.5, 0.5, 0.6]));
            assert_eq!(
                echo["figures"]["cpu_nanoseconds"]["libuv"],
                json!({ "value": [100.0, 100.0, 110.0], "ratio": null })
            );
            assert_eq!(echo["figures"]["instructions"]["c"], json!({ "value": 250.0, "ratio": 0.25 }));
            assert_eq!(echo["figures"]["instructions"].get("mio"), None);
            assert_eq!(echo["figures"].get("bytes"), None);
            assert_eq!(value["workloads"][1]["figures"]["bytes"]["c"]["value"], 100.0);
        });
    }
}
