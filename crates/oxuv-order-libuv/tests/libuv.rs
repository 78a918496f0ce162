//! All order scripts on libuv, or on the library that `OXUV_ORDER_LIBRARY` names.

oxuv_order::script_tests!(oxuv_order_libuv::Libuv);

#[test]
fn the_library_is_the_one_that_was_named() {
    let (file, version) = oxuv_order_libuv::in_use();
    let named = std::env::var_os("OXUV_ORDER_LIBRARY").map(std::path::PathBuf::from);
    let expected = named.map_or_else(std::env::current_exe, |path| path.canonicalize()).unwrap();
    assert_eq!(file, expected);
    assert!(version.starts_with("1.53."), "{version}");
}
