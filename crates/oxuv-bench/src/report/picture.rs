//! The picture: for each workload a bar for each contestant, from libuv's CPU time to its own, with its spread.

use std::fmt::Write;

use crate::contestant::Contestant;
use crate::results::{Figure, Results, Row, Spread};

const WIDTH: f64 = 900.0;
const LABELS: f64 = 270.0;
/// Where numbers stand, to the right of the bars.
const NUMBERS: f64 = 60.0;
const BAR: f64 = 9.0;
const STEP: f64 = 12.0;
const GAP: f64 = 12.0;
const HEAD: f64 = 92.0;

/// The ratios at the left and the right border, and those with a line. The scale is logarithmic: twice and half are as long.
const LEAST: f64 = 0.125;
const MOST: f64 = 4.0;
const LINES: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

pub(super) fn svg(results: &Results) -> String {
    let bars: Vec<(&Row, Vec<(Contestant, Spread)>)> =
        results.rows.iter().map(|row| (row, bars_of(results, row))).filter(|(_, bars)| !bars.is_empty()).collect();
    let height = HEAD + bars.iter().map(|(_, bars)| bars.len() as f64 * STEP + GAP).sum::<f64>() + 24.0;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#1f2328\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    text(
        &mut picture,
        16.0,
        24.0,
        "CPU time per operation, beside libuv 1.53",
        "font-size=\"16\" font-weight=\"bold\"",
    );
    let explanation = "Left of 1 is less than libuv needs, right of it more. Thin lines: half of all rounds lie there.";
    text(&mut picture, 16.0, 42.0, explanation, "fill=\"#59636e\"");
    legend(&mut picture, results);
    scale(&mut picture, height);
    let mut y = HEAD;
    for (row, bars) in bars {
        let middle = y + bars.len() as f64 * STEP / 2.0 + 4.0;
        text(&mut picture, LABELS - 12.0, middle, row.workload.title, "text-anchor=\"end\"");
        for (contestant, ratio) in bars {
            bar(&mut picture, y, contestant, ratio);
            y += STEP;
        }
        y += GAP;
    }
    picture + "</svg>\n"
}

fn bars_of(results: &Results, row: &Row) -> Vec<(Contestant, Spread)> {
    let ratio = |(at, &contestant): (usize, &Contestant)| Some((contestant, results.ratio(row, Figure::Cpu, at)?));
    results.contestants.iter().enumerate().filter_map(ratio).collect()
}

fn legend(picture: &mut String, results: &Results) {
    let mut x = 16.0;
    for &contestant in results.contestants.iter().filter(|&&contestant| contestant != Contestant::Libuv) {
        let color = color(contestant);
        let _ = writeln!(picture, "<rect x=\"{x}\" y=\"54\" width=\"10\" height=\"10\" fill=\"{color}\"/>");
        text(picture, x + 14.0, 63.0, contestant.title(), "");
        x += 30.0 + 6.4 * contestant.title().len() as f64;
    }
}

fn scale(picture: &mut String, height: f64) {
    for ratio in LINES {
        let (x, color) = (place(ratio), if ratio == 1.0 { "#1f2328" } else { "#d1d9e0" });
        let bottom = height - 20.0;
        let _ = writeln!(
            picture,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.0}\" y2=\"{bottom}\" stroke=\"{color}\"/>",
            HEAD - 6.0
        );
        for y in [HEAD - 10.0, height - 8.0] {
            text(picture, x, y, &ratio.to_string(), "text-anchor=\"middle\" fill=\"#59636e\"");
        }
    }
}

fn bar(picture: &mut String, y: f64, contestant: Contestant, ratio: Spread) {
    let (one, end) = (place(1.0), place(ratio.median));
    let (left, width) = (one.min(end), (one - end).abs().max(0.5));
    let _ = writeln!(
        picture,
        "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{}\"><title>{}</title></rect>",
        color(contestant),
        escaped(contestant.title())
    );
    let middle = y + BAR / 2.0;
    let (low, high) = (place(ratio.low), place(ratio.high));
    let _ = writeln!(
        picture,
        "<path d=\"M{low:.1} {:.1}v4M{low:.1} {middle:.1}H{high:.1}M{high:.1} {:.1}v4\" stroke=\"#1f2328\" fill=\"none\"/>",
        middle - 2.0,
        middle - 2.0
    );
    let number = format!("{:.2}", ratio.median);
    text(picture, WIDTH - NUMBERS + 12.0, y + BAR, &number, "font-size=\"11\"");
}

/// Where a ratio is; what is beyond a border is at it.
fn place(ratio: f64) -> f64 {
    let part = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LABELS + part * (WIDTH - LABELS - NUMBERS)
}

fn text(picture: &mut String, x: f64, y: f64, words: &str, attributes: &str) {
    let _ = writeln!(picture, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(words));
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn color(contestant: Contestant) -> &'static str {
    match contestant {
        Contestant::Rust => "#bc4c00",
        Contestant::Futures => "#e8a33d",
        Contestant::C => "#8a1f11",
        Contestant::Libuv => "#1f2328",
        Contestant::Tokio => "#0969da",
        Contestant::Mio => "#54aeff",
        Contestant::MonoioRing => "#1a7f37",
        Contestant::MonoioEpoll => "#7bc88a",
        Contestant::Epoll => "#8c959f",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up;

    #[test]
    fn twice_and_half_are_as_far_from_one() {
        let ends = [place(LEAST), place(MOST)];
        assert_eq!(ends, [LABELS, WIDTH - NUMBERS]);
        assert!((place(2.0) + place(0.5) - 2.0 * place(1.0)).abs() < 1e-9);
        assert_eq!([place(0.0), place(100.0)], ends);
    }

    #[test]
    fn there_is_a_bar_for_each_ratio_from_one_to_it() {
        let picture = svg(&made_up::results());
        // The background, two of the legend, and of the one workload that is timed the bars of two contestants.
        assert_eq!(picture.matches("<rect ").count(), 5, "{picture}");
        assert_eq!(picture.matches("echo: 1 x 64 B").count(), 1);
        assert!(!picture.contains("a timer"));
        let half = place(1.0) - place(0.5);
        assert!(picture.contains(&format!("x=\"{:.1}\" y=\"{HEAD:.1}\" width=\"{half:.1}\"", place(0.5))), "{picture}");
        assert!(picture.contains(&format!("H{:.1}M", place(2.0))), "the spread of mio: {picture}");
    }

    #[test]
    fn it_is_alone_and_well_formed() {
        let picture = svg(&made_up::results());
        for foreign in ["<script", "href", "<style", "url("] {
            assert!(!picture.contains(foreign), "{foreign}");
        }
        let opened = picture.matches('<').count() - picture.matches("</").count();
        let closed = picture.matches("/>").count() + picture.matches("</").count();
        assert_eq!(opened, closed, "{picture}");
        assert_eq!(escaped("a < b & c > d"), "a &lt; b &amp; c &gt; d");
    }

    #[test]
    fn no_two_contestants_look_the_same() {
        let colors: std::collections::HashSet<_> = Contestant::ALL.map(color).into();
        assert_eq!(colors.len(), Contestant::ALL.len());
    }
}
