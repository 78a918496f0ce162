//! A trace as a page for any browser, with nothing beside it and no network.

/// What stands before the trace in the page, and behind it.
const PAGE: (&str, &str) = (include_str!("view/head.html"), include_str!("view/foot.html"));

/// A page that shows this trace: the timeline by turn and phase, the longest callbacks, how long turns and callbacks take, and
/// what the pool's lanes did. A trace that was cut off anywhere is shown as far as it goes.
pub fn page(trace: &str) -> String {
    let (head, foot) = PAGE;
    // The records stand in a script's element as data. Only texts have this letter, and there it may be written so.
    let records = trace.trim_end().replace('<', "\\u003c");
    format!("{head}{records}{foot}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_cannot_leave_its_place_in_the_page() {
        let page = page("[{\"name\":\"</script><script>alert(1)</script>\"}]\n");
        assert!(!page.contains("alert(1)</script>") && page.contains("\\u003c/script>\\u003cscript>alert(1)"));
        assert_eq!(page.matches("</html>").count(), 1);
    }

    #[test]
    fn a_page_asks_for_nothing_from_elsewhere() {
        let page = page("[]");
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="));
    }
}
