//! Where the instructions of one operation go.

use std::collections::HashMap;

use crate::callgrind::Profile;

/// What costs less than this many instructions is not listed.
const LEAST: f64 = 0.5;

pub(crate) fn print(profile: &Profile) {
    println!("{:.1} instructions, {:.2} allocations\n", profile.instructions(), profile.allocations());
    println!("    own  +callees    calls  function");
    let mut functions: Vec<_> = profile.functions.iter().filter(|(_, cost)| cost.own >= LEAST).collect();
    functions.sort_by(|(_, a), (_, b)| b.own.total_cmp(&a.own));
    for (name, cost) in functions {
        println!("{:7.1} {:9.1} {:8.2}  {name}", cost.own, cost.with_callees, cost.calls);
    }

    let mut files = HashMap::<&str, f64>::new();
    for ((file, ..), cost) in &profile.lines {
        *files.entry(file).or_default() += cost;
    }
    println!("\n    own  source file (wherever it is inlined)");
    print_largest(files);

    let lines =
        profile.lines.iter().map(|((file, line, function), &cost)| (format!("{file}:{line}  in {function}"), cost));
    println!("\n    own  line of source, and the function it is in");
    print_largest(lines.collect());
}

fn print_largest<T: AsRef<str>>(costs: HashMap<T, f64>) {
    let mut costs: Vec<_> = costs.into_iter().filter(|&(_, cost)| cost >= LEAST).collect();
    costs.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    for (name, cost) in costs {
        println!("{cost:7.1}  {}", name.as_ref());
    }
}
