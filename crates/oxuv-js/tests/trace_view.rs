//! The page that shows a trace, in a browser, where there is one: it is opened, clicked, and its numbers are read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A browser that can be driven without a screen.
fn browser() -> Option<&'static str> {
    let runs = |name: &&str| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
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
setTimeout(() => { const end = Date.now() + 500; while (Date.now() < end); }, 5);
";

/// Traces a script, and returns the page.
fn page_of(name: &str, script: &str) -> String {
    let (source, trace) = (scratch(&format!("{name}.js")), scratch(&format!("{name}.json")));
    std::fs::write(&source, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxuv"));
    let output = command.arg("--trace").arg(&trace).arg(&source).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_file(source).unwrap();
    let page = view(&trace);
    std::fs::remove_file(trace).unwrap();
    page
}

/// The page of a trace.
fn view(trace: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxuv"));
    let page = command.arg("trace-view").arg(trace).stdin(Stdio::null()).output().unwrap();
    assert!(page.status.success(), "{}", String::from_utf8_lossy(&page.stderr));
    String::from_utf8_lossy(&page.stdout).into_owned()
}

/// The page of this text as a trace.
fn page_of_text(name: &str, text: &[u8]) -> String {
    let trace = scratch(&format!("{name}.json"));
    std::fs::write(&trace, text).unwrap();
    let page = view(&trace);
    std::fs::remove_file(trace).unwrap();
    page
}

/// Opens a page in the browser, with this script behind its own, which leaves what it finds in the title; and returns that.
fn found_in(browser: &str, name: &str, page: &str, script: &str) -> String {
    let path = scratch(&format!("{name}.html"));
    let caught = "window.onerror = (text) => { document.title = `failed: ${text}`; };";
    let page = page
        .replacen("<body>", &format!("<body><script>{caught}</script>"), 1)
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

/// A trace of Node.js 18 on our `libuv.so.1`: the server of docs/pictures, under load. `scripts/pictures` makes it.
const NODE: &[u8] = include_bytes!("data/node-http.json");

#[test]
fn a_server_of_node_under_load_can_be_looked_at() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let found = found_in(
        browser,
        "node",
        &page_of_text("node", NODE),
        "
        const texts = (id) => [...$(id).rows].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent));
        const slow = [...$('longest').rows].find((row) => row.cells[1].textContent === 'timer');
        slow.click();
        $('search').value = 'MakeLibuvRequestCallback';
        $('search').dispatchEvent(new Event('input'));
        document.title = JSON.stringify({ title: document.title, kinds: texts('kinds'), lanes: texts('lanes'),
          told: $('told').textContent, took: (chosen.end - chosen.begin) / 1000, found: $('found').textContent,
          seen: from <= chosen.begin && chosen.end <= to, problems: $('problems').textContent });
        ",
    );
    let found: serde_json::Value = serde_json::from_str(&found).unwrap_or_else(|_| panic!("{found}"));
    let count = |list: &str, name: &str| {
        let lines = found[list].as_array().unwrap();
        let line = lines.iter().find(|line| line[0] == name).unwrap_or_else(|| panic!("no {name}: {found}"));
        line[1].as_str().unwrap().parse::<u32>().unwrap()
    };
    assert!(found["title"].as_str().unwrap().starts_with("node, process "), "{found}");
    // 40 requests on 4 connections, each of which reads a file.
    assert_eq!((count("kinds", "connection"), count("kinds", "connect")), (4, 4), "{found}");
    assert!(count("kinds", "read") >= 80 && count("kinds", "job") >= 160, "{found}");
    // Those that no ring does.
    assert!(count("lanes", "pool: fast I/O: runs") > 0, "{found}");
    assert!(found["told"].as_str().unwrap().contains("RunTimers"), "{found}");
    // It is in the script that the timer takes 25 ms.
    assert!(found["took"].as_f64().unwrap() >= 25.0 && found["seen"] == true, "{found}");
    assert!(found["found"].as_str().unwrap().ends_with(" found") && found["found"] != "0 found", "{found}");
    assert_eq!(found["problems"], "");
}

#[test]
fn a_trace_that_was_cut_off_is_shown_as_far_as_it_goes() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let whole = page_of("cut", "setTimeout(() => {}, 1); setTimeout(() => {}, 20);");
    let end = whole.rfind("{\"ph\":\"X\"").unwrap();
    let rest = whole.find("</script>\n<script type=\"application/json\" id=\"cut\">").unwrap();
    let cut = format!("{}{}", &whole[..end + 20], &whole[rest..]);
    let found = found_in(
        browser,
        "cut",
        &cut,
        "document.title = `${$('n-callbacks').textContent}, ${$('problems').textContent}`;",
    );
    let (callbacks, problems) = found.split_once(", ").unwrap_or_else(|| panic!("{found}"));
    assert!(callbacks.parse::<u32>().is_ok_and(|callbacks| callbacks >= 1), "{found}");
    assert_eq!(problems, "The trace is not whole: it is shown as far as it goes.");
}

/// Records of somebody who means ill, or has another program.
const HOSTILE: &str = r#"[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"</script><img src=x onerror=document.title='injected'>"}},
{"ph":"M","pid":1,"tid":10,"name":"thread_name","args":{"name":"<b onmouseover=alert(1)>"}},
{"ph":"M","pid":1,"tid":11,"name":"thread_name"},
{"ph":"X","pid":1,"tid":11,"ts":1,"dur":5,"cat":"callback","name":"<img src=x onerror=document.title='injected'>","args":{"origin":"<script>document.title='injected'</script>","__proto__":{"origin":1},"toString":1}},
{"ph":"X","pid":1,"tid":11,"ts":2,"dur":1,"cat":"callback","name":"__proto__","args":{"origin":{"toString":1},"handle":[1]}},
{"ph":"X","pid":1,"tid":10,"ts":3,"dur":1,"cat":"phase","name":"constructor"},
{"ph":"X","pid":1,"tid":10,"ts":3,"dur":1,"cat":"phase","name":7,"args":7},
{"ph":"X","pid":1,"tid":10,"ts":1e999,"dur":1,"cat":"phase","name":"late"},
{"ph":"X","pid":1,"tid":10,"ts":5,"dur":-1,"cat":"phase","name":"short"},
{"ph":"X","pid":1,"tid":10,"ts":900000000000000,"dur":1,"cat":"turn","name":"turn","args":{"number":"x"}},
{"ph":"X","pid":1,"tid":"10","ts":5,"dur":1},
{"ph":"e","pid":1,"tid":2,"ts":5,"name":"runs","id":"none"},
null, 7, "text", [], {}
]"#;

#[test]
fn hostile_records_are_text_or_left_out() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let found = found_in(
        browser,
        "hostile",
        &page_of_text("hostile", HOSTILE.as_bytes()),
        "
        const row = [...$('longest').rows].find((row) => row.cells[1].textContent.startsWith('<img'));
        row.click();
        show(last - 0.5, last);
        $('search').value = '<script>';
        $('search').dispatchEvent(new Event('input'));
        $('next').click();
        document.title = JSON.stringify({ title: document.title, images: document.images.length,
          scripts: document.scripts.length, told: $('told').textContent, problems: $('problems').textContent,
          found: $('found').textContent, spans: spans.length });
        ",
    );
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found: serde_json::Value = serde_json::from_str(&found).unwrap_or_else(|_| panic!("{found}"));
    assert!(found["title"].as_str().unwrap().starts_with("</script><img"), "{found}");
    assert_eq!((found["images"].as_u64(), found["spans"].as_u64()), (Some(0), Some(5)), "{found}");
    assert!(found["told"].as_str().unwrap().contains("origin <script>document.title='injected'</script>"), "{found}");
    assert_eq!(found["problems"], "9 of its 17 records are none that this page knows.");
    assert_eq!(found["found"], "1 of 1");
}

#[test]
fn what_cannot_be_shown_is_said() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let deep = ["[{\"args\":", &"[".repeat(100_000), &"]".repeat(100_000), "}]"].concat();
    let cases: [(&str, &[u8], &str); 4] = [
        ("empty", b"[]", "There is nothing to show in it."),
        ("words", b"[{no JSON at all", "Nothing of it can be read."),
        ("bytes", b"[{\xff\xfe\n{\"ph\":\0}", "Nothing of it can be read."),
        ("deep", deep.as_bytes(), "There is nothing to show in it."),
    ];
    for (name, text, problem) in cases {
        let found = found_in(browser, name, &page_of_text(name, text), "document.title = $('problems').textContent;");
        assert!(found.contains(problem), "{name}: {found}");
    }
}

#[test]
fn a_long_trace_is_shown() {
    let Some(browser) = browser() else {
        println!("left out: there is no Chromium here");
        return;
    };
    let mut text =
        String::from("[{\"ph\":\"M\",\"pid\":1,\"tid\":11,\"name\":\"thread_name\",\"args\":{\"name\":\"many\"}}");
    for nth in 0..100_000 {
        let (track, begin) = (11 + nth % 1000, nth * 10);
        text.push_str(&format!(
            ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{track},\"ts\":{begin},\"dur\":4.5,\"cat\":\"callback\",\"name\":\"timer\"}}"
        ));
    }
    text.push(']');
    let found = found_in(
        browser,
        "huge",
        &page_of_text("huge", text.as_bytes()),
        "document.title = [$('n-callbacks').textContent, canvas.height < 10000, $('problems').textContent].join();",
    );
    // Of the tracks it shows so many, and says that there are more.
    assert_eq!(found, "10000,true,90000 of its 100001 records are none that this page knows.");
}

#[test]
fn a_page_is_of_one_trace() {
    for args in [&["trace-view"][..], &["trace-view", "a.json", "b.json"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_oxuv")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(9));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with("oxuv: trace-view takes one file: oxuv trace-view TRACE\n"), "{errors}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_oxuv")).args(["trace-view", "/nowhere/trace.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("oxuv: /nowhere/trace.json: "));
    for other in [env!("CARGO_MANIFEST_PATH"), "/dev/null", "/dev/zero", "/proc/self/exe", "/"] {
        let output = Command::new(env!("CARGO_BIN_EXE_oxuv")).args(["trace-view", other]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{other}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with(&format!("oxuv: {other}: ")), "{errors}");
        assert!(output.stdout.is_empty(), "{other}");
    }
}
