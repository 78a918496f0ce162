//! Numbers as Prometheus reads them (text format 0.0.4); times in seconds.

use std::fmt::Write;

use hdrhistogram::Histogram;
use oxuv_core::{CallbackKind, Lane};

use crate::numbers::{Numbers, OfKind};

/// What is told: name, type, and what it is.
const FAMILIES: [(&str, &str, &str); 10] = [
    ("oxuv_turns_total", "counter", "Turns of the loop"),
    ("oxuv_events_total", "counter", "Events of the kernel that concerned a handle"),
    ("oxuv_idle_seconds_total", "counter", "Time waiting for events"),
    ("oxuv_busy_seconds_total", "counter", "Time running something"),
    ("oxuv_callbacks_total", "counter", "Callbacks called"),
    ("oxuv_callback_seconds_total", "counter", "Time in callbacks"),
    ("oxuv_jobs_total", "counter", "Jobs that threads have run, and the kernel by io_uring"),
    ("oxuv_job_seconds_total", "counter", "Time of threads, and of the kernel, in jobs"),
    ("oxuv_turn_seconds", "summary", "Time of a turn without waiting"),
    ("oxuv_delay_seconds", "summary", "Time that a callback holds others up"),
];

impl Numbers {
    /// All of it as Prometheus reads it (text format 0.0.4); times in seconds.
    pub fn prometheus(&self) -> String {
        text(&[samples(self, "")])
    }

    /// The same of several loops, each with a label `loop` of this value.
    pub fn prometheus_of(loops: &[(String, Numbers)]) -> String {
        let of_loop = |(name, numbers): &(String, Numbers)| samples(numbers, &format!("loop=\"{}\"", escaped(name)));
        text(&loops.iter().map(of_loop).collect::<Vec<_>>())
    }
}

/// Text as it stands between the quotes of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

/// The samples of several loops, family by family.
fn text(loops: &[[String; FAMILIES.len()]]) -> String {
    let mut text = String::new();
    for (nth, (name, kind, help)) in FAMILIES.iter().enumerate() {
        // Writing to memory does not fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        loops.iter().for_each(|samples| text.push_str(&samples[nth]));
    }
    text
}

/// The samples of a loop, in the order of the families.
fn samples(numbers: &Numbers, label: &str) -> [String; FAMILIES.len()] {
    let mut samples = [const { String::new() }; FAMILIES.len()];
    let mut sample = |nth: usize, suffix: &str, more: &str, value: f64| {
        let separator = if label.is_empty() || more.is_empty() { "" } else { "," };
        let labels = format!("{label}{separator}{more}");
        let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
        let _ = writeln!(samples[nth], "{}{suffix}{labels} {value}", FAMILIES[nth].0);
    };
    sample(0, "", "", numbers.turns() as f64);
    sample(1, "", "", numbers.metrics().events as f64);
    sample(2, "", "", seconds(numbers.idle()));
    sample(3, "", "", seconds(numbers.busy()));
    for kind in CallbackKind::ALL {
        let (label, OfKind { count, total, .. }) = (format!("kind=\"{}\"", kind.name()), numbers.callbacks(kind));
        sample(4, "", &label, count as f64);
        sample(5, "", &label, seconds(total));
    }
    for (lane, of) in Lane::ALL.map(Lane::name).into_iter().zip(numbers.lanes()).chain([("ring", numbers.ring())]) {
        let label = format!("lane=\"{lane}\"");
        sample(6, "", &label, of.count as f64);
        sample(7, "", &label, seconds(of.total));
    }
    summary(&numbers.histogram(|part| &part.turn_times), |suffix, more, value| sample(8, suffix, more, value));
    summary(&numbers.histogram(|part| &part.delays), |suffix, more, value| sample(9, suffix, more, value));
    samples
}

fn summary(of: &Histogram<u64>, mut sample: impl FnMut(&str, &str, f64)) {
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        sample("", &format!("quantile=\"{quantile}\""), seconds(of.value_at_quantile(quantile)));
    }
    sample("_sum", "", of.mean() * of.len() as f64 / 1e9);
    sample("_count", "", of.len() as f64);
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_loop_is_called_its_label_ends_where_it_should() {
        let text = Numbers::prometheus_of(&[("a \"b\"\n\\".to_owned(), Numbers::new())]);
        assert!(text.contains("oxuv_turns_total{loop=\"a \\\"b\\\"\\n\\\\\"} 0\n"), "{text}");
    }

    #[test]
    fn several_loops_have_a_label_each_and_families_stand_together() {
        let text = Numbers::prometheus_of(&[("1".to_owned(), Numbers::new()), ("2".to_owned(), Numbers::new())]);
        assert!(text.contains(
            "# TYPE oxuv_turns_total counter\noxuv_turns_total{loop=\"1\"} 0\noxuv_turns_total{loop=\"2\"} 0\n#"
        ));
        assert!(text.contains("\noxuv_callbacks_total{loop=\"2\",kind=\"timer\"} 0\n"), "{text}");
        assert_eq!(text.matches("# TYPE ").count(), FAMILIES.len());
        let text = Numbers::new().prometheus();
        assert!(
            text.contains("\noxuv_turns_total 0\n") && text.contains("\noxuv_jobs_total{lane=\"ring\"} 0\n"),
            "{text}"
        );
    }
}
