//! Lines of which many are alike.

use std::collections::HashMap;

/// So many lines that are alike are told as they are.
const FEW: usize = 10;

/// The lines that tell what keeps a loop alive, as they are printed: of those that are alike but for their numbers, as of 100,000 timers
/// that were made in one place, the first ten, and how many more there are. Those of different origins are not alike.
pub fn group_alike(lines: &[String]) -> Vec<String> {
    let mut groups: HashMap<String, (usize, usize)> = HashMap::new();
    let mut told: Vec<String> = Vec::new();
    for line in lines {
        let (count, last) = groups.entry(likeness(line)).or_default();
        *count += 1;
        if *count <= FEW {
            *last = told.len();
            told.push(line.clone());
        }
    }
    for (count, last) in groups.into_values().filter(|(count, _)| *count > FEW) {
        told[last].push_str(&format!("\noxuv:   and {} more like this", count - FEW));
    }
    told
}

/// How many handles and requests there are, in words.
pub fn how_many_keepers(count: usize) -> String {
    if count == 1 { "1 handle or request".to_owned() } else { format!("{count} handles and requests") }
}

/// What a line has in common with those that are like it: all but the figures before its origin.
fn likeness(line: &str) -> String {
    let (what, origin) = line.split_at(line.find(", from ").unwrap_or(line.len()));
    what.chars().filter(|letter| !letter.is_ascii_digit()).chain(origin.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_that_are_alike_the_first_are_told_and_how_many_more() {
        let timer = |nth: usize| format!("timer {nth}: active, due in {nth}.5 ms, from a.c:{}", 1 + nth % 2);
        let mut lines: Vec<String> = (0..100).map(timer).collect();
        lines.push("tcp 100: listening, descriptor 3".to_owned());
        let told = group_alike(&lines);
        assert_eq!(told.len(), 21);
        assert_eq!(told[..18], lines[..18]);
        // There are two origins, with ten each before.
        for nth in [18, 19] {
            assert_eq!(told[nth], format!("{}\noxuv:   and 40 more like this", lines[nth]));
        }
        assert_eq!(told[20], lines[100]);
        assert_eq!(group_alike(&lines[..20]), lines[..20]);
    }
}
