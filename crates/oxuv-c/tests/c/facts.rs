//! What a `uv.h` says, as the C compiler sees it: names, values, layouts and signatures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::build;

/// A directory with a `uv.h`.
pub(crate) struct Header {
    include: PathBuf,
}

/// A member of a structure, or all of a type.
pub(crate) struct Member<'a> {
    pub(crate) of: &'a str,
    /// `None`: all of the type.
    pub(crate) field: Option<&'a str>,
    /// As the table has it; a structure or union without a name is not compared.
    pub(crate) declared: &'a str,
}

impl Header {
    pub(crate) fn ours() -> Header {
        Header::at(build::include())
    }

    pub(crate) fn at(include: impl Into<PathBuf>) -> Header {
        Header { include: include.into() }
    }

    /// The functions it declares.
    pub(crate) fn functions(&self) -> BTreeSet<String> {
        let tokens = self.tokens();
        let mut depth = 0;
        let mut names = BTreeSet::new();
        for pair in tokens.windows(2) {
            match pair[0].as_str() {
                "(" | "{" => depth += 1,
                ")" | "}" => depth -= 1,
                name if depth == 0 && name.starts_with("uv_") && pair[1] == "(" => {
                    names.insert(name.to_string());
                }
                _ => {}
            }
        }
        names
    }

    /// The types that it gives a name, and whether they are pointers to functions.
    pub(crate) fn types(&self) -> BTreeMap<String, bool> {
        let tokens = self.tokens();
        let mut types = BTreeMap::new();
        let mut rest = tokens.as_slice();
        while let Some(start) = rest.iter().position(|token| token == "typedef") {
            let end = start + end_of_declaration(&rest[start..]);
            let (declaration, after) = (&rest[start..end], &rest[end..]);
            let pointer = declaration.windows(3).find(|three| three[0] == "(" && three[1] == "*");
            // A structure may have members that point to functions.
            let pointer = pointer.filter(|_| !declaration.contains(&"{".to_string()));
            let name = pointer.map_or(&declaration[declaration.len() - 1], |three| &three[2]);
            types.insert(name.clone(), pointer.is_some());
            rest = after;
        }
        types
    }

    /// The names of all constants of its enumerations.
    fn enumerators(&self) -> BTreeSet<String> {
        let tokens = self.tokens();
        let mut names = BTreeSet::new();
        let mut rest = tokens.as_slice();
        while let Some(start) = rest.iter().position(|token| token == "enum") {
            rest = &rest[start + 1..];
            // An anonymous enumeration, or one with a name; else it is only mentioned.
            let Some(open) = rest.iter().take(2).position(|token| token == "{") else { continue };
            let close = open + rest[open..].iter().position(|token| token == "}").unwrap();
            let after_comma = rest[open..close].windows(2).filter(|pair| pair[0] == "{" || pair[0] == ",");
            names.extend(after_comma.map(|pair| pair[1].clone()));
            rest = &rest[close..];
        }
        names.remove("}");
        names
    }

    /// Its macros that look like constants, and what they stand for. Those that are private to it are left out.
    fn macros(&self) -> BTreeMap<String, String> {
        let defined = self.preprocess("#include <uv.h>\n", &["-dM"]);
        let names = defined.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next());
        let private = |name: &str| name.contains("PRIVATE") || name.contains("PLATFORM") || name.ends_with("_FIELDS");
        let guard = |name: &str| name.ends_with("_H") || name.ends_with("_H_");
        let names = names.filter(|name| name.starts_with("UV_") && !name.contains('('));
        let names = names.filter(|name| !private(name) && !guard(name));
        let mut source = String::from(INCLUDE);
        for name in names {
            source.push_str(&format!("@ \"{name}\" {name}\n"));
        }
        let expanded = self.preprocess(&source, &["-P"]);
        let macros = expanded.split('@').skip(1).map(|line| {
            let (name, text) = line.trim_start().strip_prefix('"').unwrap().split_once('"').unwrap();
            (name.to_string(), text.split_whitespace().collect::<Vec<_>>().join(" "))
        });
        macros.collect()
    }

    /// Everything it says but for layouts: functions and callbacks with their signature, constants with their value.
    pub(crate) fn sayings(&self) -> BTreeMap<String, String> {
        let mut sayings = self.signatures();
        let is_number = |text: &str| {
            let operators = "()+-<>| ";
            text.contains(|c: char| c.is_ascii_digit())
                && text
                    .split(|c| operators.contains(c))
                    .all(|word| word.is_empty() || word.starts_with(char::is_numeric))
        };
        let mut constants = self.enumerators();
        for (name, text) in self.macros() {
            if is_number(&text) {
                constants.insert(name);
            } else if text != name {
                sayings.insert(name, text);
            }
        }
        let line = |name: &String| format!("printf(\"%lld\\n\", (long long) ({name}));");
        let values = self.measure(&constants.iter().map(line).collect::<Vec<_>>());
        sayings.extend(constants.into_iter().zip(values.into_iter().map(Option::unwrap)));
        sayings.extend(self.error_texts());
        sayings
    }

    /// The texts of the errors.
    fn error_texts(&self) -> Vec<(String, String)> {
        let line = "#define XX(code, text) printf(#code \"\\t\" text \"\\n\");\n UV_ERRNO_MAP(XX)";
        let printed = self.run(&format!("{INCLUDE}{MAIN}{line}\nreturn 0;\n}}\n"));
        let pairs = printed.lines().map(|line| line.split_once('\t').unwrap());
        pairs.map(|(code, text)| (format!("text of {code}"), text.to_string())).collect()
    }

    /// The signatures of its functions and types of callbacks, without the names of their arguments. Only GCC tells.
    fn signatures(&self) -> BTreeMap<String, String> {
        let directory = build::new_directory();
        let (source, told) = (directory.join("signatures.c"), directory.join("told"));
        let mut text = String::from("#include <uv.h>\n");
        for (name, _) in self.types().iter().filter(|(_, is_function)| **is_function) {
            text.push_str(&format!("extern __typeof__(*({name}) 0) signature_of_{name};\n"));
        }
        std::fs::write(&source, text).unwrap();
        let output = self.cc().args(["-fsyntax-only", "-aux-info"]).arg(&told).arg(source).output().unwrap();
        if !output.status.success() {
            println!("signatures are left out: this compiler does not tell them");
            return BTreeMap::new();
        }
        let told = std::fs::read_to_string(told).unwrap();
        let signatures = told.lines().filter_map(|line| {
            let (_, signature) = line.split_once("*/ extern ")?;
            let before = signature.split('(').next()?.trim_end();
            let name = before.rsplit([' ', '*']).next()?;
            (name.contains("uv_")).then(|| (name.to_string(), signature.to_string()))
        });
        signatures.collect()
    }

    /// Size and alignment of types, offset and size of fields, and whether they are declared as said. `None` for what is
    /// not there.
    pub(crate) fn layout(&self, members: &[Member<'_>]) -> Vec<Option<String>> {
        let line = |member: &Member<'_>| {
            let (of, declared) = (member.of, member.declared);
            let Some(field) = member.field else {
                return format!("printf(\"- %zu align %zu\\n\", sizeof({of}), __alignof__({of}));");
            };
            let here = format!("(({of}*) 0)->{field}");
            let same = match declared.contains("...") {
                true => "1".to_string(),
                false => format!("__builtin_types_compatible_p(__typeof__({here}), {declared})"),
            };
            let same = format!("{same} ? \"{declared}\" : \"another type\"");
            format!("printf(\"%zu %zu %s\\n\", __builtin_offsetof({of}, {field}), sizeof({here}), {same});")
        };
        self.measure(&members.iter().map(line).collect::<Vec<_>>())
    }

    /// Runs the statements, each of which prints a line, and returns the lines; `None` for what does not compile.
    fn measure(&self, statements: &[String]) -> Vec<Option<String>> {
        let mut present: Vec<bool> = vec![true; statements.len()];
        let first = INCLUDE.lines().chain(MAIN.lines()).count() + 1;
        loop {
            let lines = statements.iter().zip(&present);
            let lines = lines.map(|(statement, present)| if *present { statement } else { "puts(\"\");" });
            let source = format!("{INCLUDE}{MAIN}{}\nreturn 0;\n}}\n", lines.collect::<Vec<_>>().join("\n"));
            let output = self.compile(&source, &["-fsyntax-only"]);
            if output.status.success() {
                let printed = self.run(&source);
                assert_eq!(printed.lines().count(), statements.len());
                return printed.lines().zip(present).map(|(line, present)| present.then(|| line.to_string())).collect();
            }
            let errors = String::from_utf8_lossy(&output.stderr);
            let wrong = errors.lines().filter(|line| line.contains("error:"));
            let numbers: Vec<usize> = wrong.map(|line| line.split(':').nth(1).unwrap().parse().unwrap()).collect();
            assert!(!numbers.is_empty() && numbers.iter().all(|number| *number >= first), "{errors}");
            for number in numbers {
                present[number - first] = false;
            }
        }
    }

    /// What a program prints.
    fn run(&self, source: &str) -> String {
        let program = build::new_directory().join("program");
        build::succeed(self.compile(source, &["-o", program.to_str().unwrap()]));
        build::run(&program)
    }

    /// The words and signs of the header itself, without what it includes of the system's.
    fn tokens(&self) -> Vec<String> {
        let preprocessed = self.preprocess("#include <uv.h>\n", &[]);
        let mut own = false;
        let mut text = String::new();
        for line in preprocessed.lines() {
            if let Some(marker) = line.strip_prefix("# ") {
                own = marker.split('"').nth(1).is_some_and(|file| Path::new(file).starts_with(&self.include));
            } else if own {
                text.push_str(line);
                text.push('\n');
            }
        }
        tokens(&text)
    }

    fn preprocess(&self, source: &str, options: &[&str]) -> String {
        let output = self.compile(source, &[&["-E"], options].concat());
        build::succeed(output)
    }

    /// Programs ask for all that the system has: so do most that use libuv.
    fn cc(&self) -> Command {
        let mut cc = Command::new("cc");
        cc.env("LC_ALL", "C").args(["-D_GNU_SOURCE", "-w", "-I"]).arg(&self.include);
        cc
    }

    fn compile(&self, source: &str, options: &[&str]) -> Output {
        let path = build::new_directory().join("source.c");
        std::fs::write(&path, source).unwrap();
        self.cc().args(options).arg(path).stdin(Stdio::null()).output().unwrap()
    }
}

/// libuv's header takes away a macro that others of its macros need.
const INCLUDE: &str = "#include <uv.h>\n#undef UV__ERR\n#define UV__ERR(number) (-(number))\n";

/// Where the statements of a program follow.
const MAIN: &str = "#include <stdio.h>\nint main(void) {\n";

/// Up to the semicolon that is not within braces.
fn end_of_declaration(tokens: &[String]) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return index,
            _ => {}
        }
    }
    panic!("a declaration does not end: {tokens:?}");
}

/// Identifiers and numbers, and single other characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut within_word = false;
    for c in text.chars() {
        let of_word = c.is_ascii_alphanumeric() || c == '_';
        match tokens.last_mut() {
            Some(word) if of_word && within_word => word.push(c),
            _ if c.is_whitespace() => {}
            _ => tokens.push(c.to_string()),
        }
        within_word = of_word;
    }
    tokens
}
