//! Our header beside libuv's own. `scripts/layout-peers` finds those and runs this.

use std::collections::BTreeMap;

use crate::facts::Header;
use crate::layout::{Row, rows};

/// Layouts by name, as far as they are there.
fn layouts(header: &Header) -> BTreeMap<String, String> {
    let rows = rows();
    let found = header.layout(&rows.iter().map(Row::member).collect::<Vec<_>>());
    let named = rows.iter().zip(found).filter_map(|(row, layout)| Some((row.name(), layout?)));
    named.collect()
}

/// The same of 1.44, by the table. Only offsets and sizes: the types of some private fields were others.
fn places_in_1_44() -> BTreeMap<String, String> {
    rows().into_iter().filter_map(|row| Some((row.name(), row.place_in_1_44?))).collect()
}

fn places(layouts: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let place = |layout: String| layout.split(' ').take(2).collect::<Vec<_>>().join(" ");
    layouts.into_iter().map(|(name, layout)| (name, place(layout))).collect()
}

/// The two sides as lines, where they differ.
fn differences(ours: &BTreeMap<String, String>, theirs: &BTreeMap<String, String>) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let differing = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name));
    let side = |map: &BTreeMap<String, String>, name: &String| map.get(name).map_or("nothing", |s| s).to_string();
    differing.map(|name| format!("{name}: ours {}; theirs {}", side(ours, name), side(theirs, name))).collect()
}

#[test]
#[ignore = "needs libuv's headers: scripts/layout-peers"]
fn our_header_says_what_libuvs_do() {
    let peers = std::env::var("OXUV_PEERS").expect("OXUV_PEERS: directories with a uv.h, separated by colons");
    let ours = Header::ours();
    let (our_layouts, our_sayings, our_types) = (layouts(&ours), ours.sayings(), ours.types());
    for directory in peers.split(':') {
        let theirs = Header::at(directory);
        let mut sayings = theirs.sayings();
        let version = sayings["UV_VERSION_MINOR"].clone();
        println!("{directory}: 1.{version}, {} layouts, {} others", layouts(&theirs).len(), sayings.len());
        match version.as_str() {
            "53" => {
                assert_eq!(differences(&our_layouts, &layouts(&theirs)), [""; 0]);
                assert_eq!(differences(&our_sayings, &sayings), [""; 0]);
                assert_eq!(our_types, theirs.types());
            }
            older => {
                if older == "44" {
                    assert_eq!(differences(&places_in_1_44(), &places(layouts(&theirs))), [""; 0]);
                }
                sayings.retain(|name, _| !name.starts_with("UV_VERSION_") && !name.contains("uv__"));
                let added =
                    our_sayings.keys().filter(|name| !name.starts_with("UV_VERSION_") && !sayings.contains_key(*name));
                println!("since then: {}", added.cloned().collect::<Vec<_>>().join(" "));
                let kept: BTreeMap<_, _> =
                    our_sayings.clone().into_iter().filter(|(name, _)| sayings.contains_key(name)).collect();
                assert_eq!(differences(&kept, &sayings), [""; 0]);
            }
        }
    }
}
