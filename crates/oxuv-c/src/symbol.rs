//! Names of functions, for people to read.

use std::ffi::{CStr, OsStr, c_void};
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The function at this address; or the file that it is in, and where it is there, as `addr2line` takes it.
///
/// The names of functions that a program does not export are in its file only, if that was not stripped.
pub(crate) fn name_of(address: usize) -> Vec<u8> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and there is memory for the answer.
    if unsafe { libc::dladdr(address as *const c_void, info.as_mut_ptr()) } == 0 {
        return format!("{address:#x}").into_bytes();
    }
    // SAFETY: it was found, so the answer is written. The texts are those of the file that is loaded, or null.
    let (symbol, file, base) = unsafe {
        let info = info.assume_init();
        let text = |text: *const libc::c_char| (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes());
        (
            text(info.dli_sname).filter(|_| info.dli_saddr as usize == address),
            text(info.dli_fname),
            info.dli_fbase as usize,
        )
    };
    if let Some(symbol) = symbol {
        return symbol.to_vec();
    }
    let path = Path::new(OsStr::from_bytes(file.unwrap_or_default()));
    let offset = address.wrapping_sub(base);
    if let Some(name) = std::fs::read(path).ok().and_then(|file| in_file(&file, address, offset)) {
        return name;
    }
    let mut name = path.file_name().unwrap_or_default().as_bytes().to_vec();
    // Writing to memory does not fail.
    let _ = write!(name, "+{offset:#x}");
    name
}

/// The sizes of a section's and a symbol's entry in an ELF file of 64 bits.
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// The types of sections that hold the symbols of an executable, and the type of symbols that are functions.
const SYMTAB: u64 = 2;
const FUNCTION: u8 = 2;

/// The file is loaded where its addresses say.
const EXECUTABLE: u64 = 2;

/// The function at this address of an ELF file, which is so far behind its beginning when that is loaded.
fn in_file(file: &[u8], address: usize, offset: usize) -> Option<Vec<u8>> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let value = if number(file, 16, 2)? == EXECUTABLE { address } else { offset } as u64;
    let (sections, count) = (number(file, 40, 8)? as usize, number(file, 60, 2)? as usize);
    let section = |nth: usize| file.get(sections.checked_add(nth.checked_mul(SECTION)?)?..)?.get(..SECTION);
    let table = (0..count).filter_map(section).find(|section| number(section, 4, 4) == Some(SYMTAB))?;
    let names = contents(file, section(number(table, 40, 4)? as usize)?)?;
    let symbols = contents(file, table)?.chunks_exact(SYMBOL);
    let is_it = |symbol: &&[u8]| symbol[4] & 15 == FUNCTION && number(symbol, 8, 8) == Some(value);
    let symbol = symbols.into_iter().find(is_it)?;
    let name = names.get(number(symbol, 0, 4)? as usize..)?;
    Some(CStr::from_bytes_until_nul(name).ok()?.to_bytes().to_vec())
}

/// What a section holds.
fn contents<'a>(file: &'a [u8], section: &[u8]) -> Option<&'a [u8]> {
    let (begin, length) = (number(section, 24, 8)? as usize, number(section, 32, 8)? as usize);
    file.get(begin..begin.checked_add(length)?)
}

/// The number of so many bytes at this place, the lowest first.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn a_function_of_this_test() {}

    #[test]
    fn functions_have_names_though_they_are_not_exported() {
        let name = name_of(a_function_of_this_test as *const () as usize);
        assert!(String::from_utf8(name).unwrap().contains("a_function_of_this_test"));
        assert_eq!(name_of(1), b"0x1");
    }

    #[test]
    fn a_file_that_is_cut_off_has_none() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in (0..file.len()).step_by(file.len() / 50) {
            assert_eq!(in_file(&file[..length], 0x1000, 0x1000), None);
        }
    }
}
