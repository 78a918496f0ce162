//! C source for what is missing, so that every test can be linked, and says what it lacks when it comes to it.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::outcome::MISSING;

/// The exit code of a process that has called a missing function.
pub const STATUS: i32 = 86;

/// What the reason of a test begins with whose file is left out.
pub const LEFT_OUT: &str = "left out: ";

/// The runner's main calls this before any test. Without it no test would come to its own first missing function.
const SETUP_ARGS: &str = "char **uv_setup_args(int argc, char **argv) { (void)argc; return argv; }\n";

/// A shared library's source: each function says its name and ends the process.
pub fn missing_functions(names: &BTreeSet<String>) -> String {
    let mut source = format!(
        "#include <stdio.h>\n#include <unistd.h>\n\n\
         static void missing(const char *name)\n{{\n    dprintf(2, \"\\n{MISSING}%s\\n\", name);\n    _exit({STATUS});\n}}\n\n"
    );
    for name in names {
        if name == "uv_setup_args" {
            source.push_str(SETUP_ARGS);
        } else {
            let _ = writeln!(source, "void {name}(void) {{ missing(\"{name}\"); }}");
        }
    }
    source
}

/// Tests in the place of those whose files are left out: they report that they are skipped (with code 7).
pub fn left_out_tests(names: &BTreeSet<String>) -> String {
    let mut source = String::from("#include <stdio.h>\n\n");
    for name in names {
        let _ = writeln!(
            source,
            "int {name}(void) {{ fputs(\"{LEFT_OUT}it tests libuv's internals\\n\", stderr); return 7; }}"
        );
    }
    source
}
