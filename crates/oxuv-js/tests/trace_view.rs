//! The page that shows a trace, in a browser, where there is one: it is opened, clicked, and its numbers are read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A browser that can be driven without a screen.
fn browser() -> Option<&'static str> {
    let runs = |name: &&str| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("view-{}-{name}", std::process::id()))
}

/// A server under load: so many requests, one after the other on two connections, and a callback that takes long.
const SERVER: &str = "
const http = require('http');
const fs = require('fs');
let left = 60;
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
const server = http.createServer((request, response) => {
  fs.readFile(__filename, (error, bytes) => response.end(bytes));
});
const one = () => http.get({ port: server.address().port, agent }, (response) => {
  response.resume().on('end', () => { if (--left === 0) { agent.destroy(); server.close(); } else if (left > 1) one(); });
});
server.listen(0, () => { one(); one(); });
setTimeout(() => { const end = Date.now() + 80; while (Date.now() < end); }, 5);
";

/// Traces a script, and returns the page.
fn page_of(name: &str, script: &str) -> String {
    let (source, trace) = (scratch(&format!("{name}.js")), scratch(&format!("{name}.json")));
    std::fs::write(&source, script).unwrap();
    let oxuv = || Command::new(env!("CARGO_BIN_EXE_oxuv"));
    let output = oxuv().arg("--trace").arg(&trace).arg(&source).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = oxuv().arg("trace-view").arg(&trace).stdin(Stdio::null()).output().unwrap();
    assert!(page.status.success());
    std::fs::remove_file(source).unwrap();
    std::fs::remove_file(trace).unwrap();
    String::from_utf8(page.stdout).unwrap()
}

/// Opens a page in the browser, with this script behind its own, which leaves what it finds in the title; and returns that.
fn found_in(browser: &str, name: &str, page: &str, script: &str) -> String {
    let path = scratch(&format!("{name}.html"));
    let caught = "window.onerror = (text) => { document.title = `failed: ${text}`; };";
    let page = page
        .replace("<script>\n'use strict';", &format!("<script>{caught}</script><script>\n'use strict';"))
        .replace("</body>", &format!("<script>{{{script}}}</script></body>"));
    std::fs::write(&path, page).unwrap();
    let profile = scratch(&format!("{name}-profile"));
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1300,900", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", path.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    std::fs::remove_file(path).unwrap();
    // The browser may still be at it.
    let _ = std::fs::remove_dir_all(profile);
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    let begin = document.find("<title>").unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let end = document.find("</title>").unwrap();
    document[begin + "<title>".len()..end].to_owned()
}

#[test]
fn a_server_under_load_can_be_looked_at() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let page = page_of("server", SERVER);
    let found = found_in(
        browser,
        "server",
        &page,
        "
        const number = (name) => Number($('n-' + name).textContent);
        const click = (row) => row.click();
        const longest = $('longest').rows[1];
        const whole = to - from;
        click(longest);
        const went = chosen !== null;
        const told = $('told').textContent;
        $('search').value = 'read';
        $('search').dispatchEvent(new Event('input'));
        $('next').click();
        const searched = $('found').textContent;
        const zoomed = went && to - from < whole && chosen.name === 'read' && from <= chosen.begin && chosen.end <= to;
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: 500, clientX: 300, cancelable: true }));
        const wider = to - from;
        $('all').click();
        const box = canvas.getBoundingClientRect();
        const row = rows.find(({ name }) => name.includes('callbacks'));
        const span = row.list.reduce((a, b) => b.end - b.begin > a.end - a.begin ? b : a);
        const x = box.left + ((span.begin + span.end) / 2 - from) / (to - from) * box.width;
        const where = { clientX: x, clientY: box.top + row.top + 5, pointerId: 1 };
        canvas.setPointerCapture = () => {};
        canvas.dispatchEvent(new PointerEvent('pointerdown', where));
        canvas.dispatchEvent(new PointerEvent('pointerup', where));
        document.title = JSON.stringify({ turns: number('turns'), callbacks: number('callbacks'), jobs: number('jobs'),
          first: longest.cells[1].textContent, took: longest.cells[0].textContent, zoomed, told, searched,
          back: to - from === whole && wider < whole, clicked: chosen === span,
          kinds: [...$('kinds').rows].map((row) => row.cells[0].textContent), lanes: $('lanes').rows.length,
          bars: $('turns').children.length > 0 && $('delays').children.length > 0 });
        ",
    );
    let found: serde_json::Value = serde_json::from_str(&found).unwrap_or_else(|_| panic!("{found}"));
    let is_at_least = |name: &str, least: u64| found[name].as_u64().is_some_and(|number| number >= least);
    assert!(is_at_least("turns", 60) && is_at_least("callbacks", 240), "{found}");
    assert_eq!(found["first"], "timer", "{found}");
    assert!(found["took"].as_str().unwrap().ends_with(" ms"), "{found}");
    for name in ["zoomed", "back", "clicked", "bars"] {
        assert_eq!(found[name], true, "{name}: {found}");
    }
    assert!(found["told"].as_str().unwrap().starts_with("timer (callback), "), "{found}");
    assert!(found["searched"].as_str().unwrap().starts_with("1 of "), "{found}");
    let kinds = found["kinds"].as_array().unwrap();
    assert!(["read", "connection", "timer"].iter().all(|kind| kinds.iter().any(|found| found == kind)), "{found}");
}

#[test]
fn a_trace_that_was_cut_off_is_shown_as_far_as_it_goes() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let whole = page_of("cut", "setTimeout(() => {}, 1); setTimeout(() => {}, 20);");
    let end = whole.rfind("{\"ph\":\"X\"").unwrap();
    let rest =
        whole.find("\n</script>\n<script>\n'use strict'").or(whole.find("</script>\n<script>\n'use strict'")).unwrap();
    let cut = format!("{}{}", &whole[..end + 20], &whole[rest..]);
    let found = found_in(browser, "cut", &cut, "document.title = $('n-callbacks').textContent;");
    assert!(found.parse::<u32>().is_ok_and(|callbacks| callbacks >= 1), "{found}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_oxuv")).args(["trace-view", "/nowhere/trace.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("oxuv: /nowhere/trace.json: "));
}
