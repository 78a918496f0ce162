//! All order scripts on the Rust front.

oxuv_order::script_tests!(oxuv_order::RustFront);
