//! The text of order scripts, and what it says. `scripts/README.md` describes it.

/// Who runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The Rust front.
    Rust,
    /// A C front of this project.
    C,
    /// libuv itself, the reference.
    Libuv,
}

/// The marks that lines can have, and who does such a line.
const MARKS: [(&str, &[Side]); 4] = [
    ("ours:", &[Side::Rust, Side::C]),
    ("rust:", &[Side::Rust]),
    ("c:", &[Side::C, Side::Libuv]),
    ("libuv:", &[Side::Libuv]),
];

/// One script: a section of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The behaviour that it shows.
    pub title: String,
    /// Why this project differs from libuv here, if it means to.
    pub differs: Option<String>,
    /// What to do.
    pub lines: Vec<Line>,
}

/// A line that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file.
    pub number: usize,
    /// Who does it, if not everybody.
    pub only: Option<&'static [Side]>,
    /// What it says.
    pub statement: Statement,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// `on a 2: ...`: what a callback does, always or at one of its calls.
    On {
        /// As the trace has it, without the result: `a`, `a close`, `c read`.
        callback: String,
        /// Which call, counted from 1; of a write, which write.
        call: Option<u32>,
        /// What it does.
        steps: Vec<Step>,
    },
    /// Steps done in turn, outside of callbacks or between them.
    Do(Vec<Step>),
    /// `expect: ...`: the calls since the last time they were looked at.
    Expect(Vec<String>),
}

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The number of its line in the file.
    pub line: usize,
    /// The verb, and with what.
    pub words: Vec<String>,
    /// What must come of it, if the script says so.
    pub outcome: Option<String>,
}

impl Script {
    /// The title as a name of a function.
    pub fn name(&self) -> String {
        let plain = self.title.to_lowercase().replace('\'', "");
        plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
    }
}

/// Reads the scripts of a file.
///
/// # Errors
/// A message with the number of the line that is wrong.
pub fn parse(text: &str) -> Result<Vec<Script>, String> {
    let mut scripts = Vec::new();
    let mut section: Option<Section<'_>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(title) = line.strip_prefix("== ") {
            if let Some(section) = section.replace(Section { title, body: Vec::new(), table: Vec::new() }) {
                section.finish(&mut scripts)?;
            }
        } else if let Some(section) = &mut section {
            section.add(number, line);
        } else if !line.is_empty() {
            return Err(format!("{number}: a title (== ...) comes first"));
        }
    }
    if let Some(section) = section {
        section.finish(&mut scripts)?;
    }
    Ok(scripts)
}

/// Words that stand for others, and for which.
type Variant<'a> = Vec<(&'a str, &'a str)>;

/// A section as it stands in the file.
struct Section<'a> {
    title: &'a str,
    body: Vec<(usize, &'a str)>,
    table: Vec<Vec<&'a str>>,
}

impl<'a> Section<'a> {
    fn add(&mut self, number: usize, line: &'a str) {
        match line.strip_prefix('|') {
            Some(row) => self.table.push(row.trim_end_matches('|').split('|').map(str::trim).collect()),
            None if line.is_empty() => {}
            None => self.body.push((number, line)),
        }
    }

    /// One script, or one for each row of the table and each word after `each`.
    fn finish(mut self, scripts: &mut Vec<Script>) -> Result<(), String> {
        let mut variants = self.rows()?;
        let (each, body) = self.body.into_iter().partition(|(_, line)| line.starts_with("each "));
        self.body = body;
        for (number, line) in each {
            let each = line["each ".len()..].split_once(':');
            let (name, values) = each.ok_or_else(|| format!("{number}: a colon is missing"))?;
            let with = |variant: &Variant<'a>, value| variant.iter().copied().chain([(name, value)]).collect();
            variants = values
                .split(',')
                .flat_map(|value| variants.iter().map(move |variant| with(variant, value.trim())))
                .collect();
        }
        variants.iter().try_for_each(|variant| self.script(variant).map(|script| scripts.push(script)))
    }

    /// The rows of the table; without one there is one variant, in which no word stands for another.
    fn rows(&self) -> Result<Vec<Variant<'a>>, String> {
        let Some((names, rows)) = self.table.split_first() else { return Ok(vec![Vec::new()]) };
        match rows.iter().find(|row| row.len() != names.len()) {
            Some(row) => Err(format!("{}: | {} | has too few or too many columns", self.title, row.join(" | "))),
            None => Ok(rows.iter().map(|row| names.iter().copied().zip(row.iter().copied()).collect()).collect()),
        }
    }

    fn script(&self, variant: &Variant<'_>) -> Result<Script, String> {
        let fill = |text: &str| variant.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        let (mut differs, mut lines) = (None, Vec::new());
        for (number, line) in &self.body {
            match line.strip_prefix("differs from libuv:") {
                Some(why) => differs = Some(why.trim().to_owned()),
                None => lines.push(parse_line(*number, &fill(line)).map_err(|error| format!("{number}: {error}"))?),
            }
            if fill(line).contains('$') {
                return Err(format!("{number}: {line}: neither a table nor `each` says what this stands for"));
            }
        }
        match lines.iter().find(|line| line.only.is_some()) {
            Some(line) if differs.is_none() => Err(format!("{}: say why it `differs from libuv:`", line.number)),
            None if differs.is_some() => Err(format!("{}: this differs nowhere from libuv", self.title)),
            _ => Ok(Script { title: fill(self.title), differs, lines }),
        }
    }
}

fn parse_line(number: usize, line: &str) -> Result<Line, String> {
    let marked = |(mark, sides)| line.strip_prefix(mark).map(|rest: &str| (Some(sides), rest.trim()));
    let (only, text) = MARKS.into_iter().find_map(marked).unwrap_or((None, line));
    let statement = if let Some(calls) = text.strip_prefix("expect:") {
        Statement::Expect(parse_calls(calls.trim()))
    } else if let Some(rest) = text.strip_prefix("on ") {
        let (callback, steps) = rest.split_once(':').ok_or("a colon is missing")?;
        let (callback, call) = match callback.rsplit_once(' ') {
            Some((callback, last)) if last.parse::<u32>().is_ok() => (callback, last.parse().ok()),
            _ => (callback, None),
        };
        Statement::On { callback: callback.to_owned(), call, steps: parse_steps(number, steps) }
    } else {
        Statement::Do(parse_steps(number, text))
    };
    Ok(Line { number, only, statement })
}

/// `a, b close, c write 1..3`
fn parse_calls(text: &str) -> Vec<String> {
    let several = |call: &str| {
        let (before, range) = call.rsplit_once(' ')?;
        let (first, last) = range.split_once("..")?;
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        Some((first..=last).map(|number| format!("{before} {number}")).collect())
    };
    let calls = text.split(',').map(str::trim).filter(|call| *call != "nothing");
    calls.flat_map(|call| several(call).unwrap_or_else(|| vec![call.to_owned()])).collect()
}

fn parse_steps(line: usize, text: &str) -> Vec<Step> {
    text.split(';').filter(|step| !step.trim().is_empty()).map(|step| parse_step(line, step)).collect()
}

/// `start a -> EINVAL`, or `active a? no`.
fn parse_step(line: usize, text: &str) -> Step {
    let is_question = text.contains('?');
    let (text, outcome) = match text.split_once(if is_question { "?" } else { "->" }) {
        Some((text, outcome)) => (text, Some(split(outcome).collect::<Vec<_>>().join(" "))),
        None => (text, None),
    };
    let mut words: Vec<String> = split(text).map(str::to_owned).collect();
    if let (true, Some(verb)) = (is_question, words.first_mut()) {
        verb.push('?');
    }
    Step { line, words, outcome }
}

/// Words, with blanks or commas between them.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|word| !word.is_empty())
}
