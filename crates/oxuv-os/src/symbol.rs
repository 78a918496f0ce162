//! Names of functions, for people to read: those of Rust and C++ as they stand in the source.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// Finds the names of functions, and keeps what it has read.
///
/// The names of functions that a program does not export are in its file only, if that was not stripped.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Few as a rule, and asked for at each callback.
    names: BTreeMap<usize, Vec<u8>>,
    tables: HashMap<PathBuf, Option<Table>>,
}

/// The symbols of a file.
#[derive(Debug)]
struct Table {
    symbols: Vec<u8>,
    names: Vec<u8>,
    /// It is loaded where its addresses say.
    is_fixed: bool,
}

impl Symbols {
    /// The function that has this address; or the file that it is in, and where it is there, as `addr2line` takes it.
    pub fn name_of(&mut self, address: usize) -> &[u8] {
        self.names.entry(address).or_insert_with(|| look_up(&mut self.tables, address))
    }
}

fn look_up(tables: &mut HashMap<PathBuf, Option<Table>>, address: usize) -> Vec<u8> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and there is memory for the answer.
    if unsafe { libc::dladdr(address as *const c_void, info.as_mut_ptr()) } == 0 {
        return format!("{address:#x}").into_bytes();
    }
    // SAFETY: it was found, so the answer is written. The texts are those of the file that is loaded, or null.
    let (symbol, begin, file, base) = unsafe {
        let info = info.assume_init();
        let text = |text: *const libc::c_char| (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes());
        (text(info.dli_sname), info.dli_saddr as usize, text(info.dli_fname), info.dli_fbase as usize)
    };
    if let Some(symbol) = symbol.filter(|_| begin == address) {
        return plain(symbol);
    }
    let path = Path::new(OsStr::from_bytes(file.unwrap_or_default()));
    let offset = address.wrapping_sub(base);
    let table = tables.entry(path.to_owned()).or_insert_with(|| File::open(path).ok().and_then(|file| read(&file)));
    if let Some(name) = table.as_ref().and_then(|table| table.find(address, offset)) {
        return plain(name);
    }
    if let Some(symbol) = symbol {
        // The nearest that is exported.
        return plain(symbol);
    }
    let mut name = path.file_name().unwrap_or_default().as_bytes().to_vec();
    // Writing to memory does not fail.
    let _ = write!(name, "+{offset:#x}");
    name
}

/// The name as it stands in the source.
fn plain(symbol: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(symbol);
    if let Ok(name) = rustc_demangle::try_demangle(&text) {
        // Without the hash at its end.
        return format!("{name:#}").into_bytes();
    }
    if symbol.starts_with(b"_Z") { of_cplusplus(symbol) } else { None }.unwrap_or_else(|| symbol.to_vec())
}

/// What C++ calls it. A program with parts in C++ has the function that knows it.
fn of_cplusplus(symbol: &[u8]) -> Option<Vec<u8>> {
    type Demangle = unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;
    let symbol = CString::new(symbol).ok()?;
    // SAFETY: whatever has this name is that function of the C++ ABI. It is given a text, and gives one that `free` takes, or null.
    unsafe {
        let function = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_demangle".as_ptr());
        if function.is_null() {
            return None;
        }
        let demangle: Demangle = std::mem::transmute(function);
        let name = demangle(symbol.as_ptr(), null_mut(), null_mut(), null_mut());
        if name.is_null() {
            return None;
        }
        let plain = CStr::from_ptr(name).to_bytes().to_vec();
        libc::free(name.cast());
        Some(plain)
    }
}

/// The sizes of a file's header, and of a section's and a symbol's entry, in an ELF file of 64 bits.
const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// The types of sections that hold the symbols of an executable, and the type of symbols that are functions.
const SYMTAB: u64 = 2;
const FUNCTION: u8 = 2;

/// The file is loaded where its addresses say.
const EXECUTABLE: u64 = 2;

/// A section with more than that is none.
const MOST: u64 = 1 << 30;

/// The symbols of an ELF file.
fn read(file: &File) -> Option<Table> {
    let header = bytes(file, 0, HEADER as u64)?;
    if header[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let count = number(&header, 60, 2)?;
    let sections = bytes(file, number(&header, 40, 8)?, count * SECTION as u64)?;
    let mut sections = sections.chunks_exact(SECTION);
    let table = sections.clone().find(|section| number(section, 4, 4) == Some(SYMTAB))?;
    let names = sections.nth(number(table, 40, 4)? as usize)?;
    let contents = |section: &[u8]| bytes(file, number(section, 24, 8)?, number(section, 32, 8)?);
    let is_fixed = number(&header, 16, 2)? == EXECUTABLE;
    Some(Table { symbols: contents(table)?, names: contents(names)?, is_fixed })
}

impl Table {
    /// The function at this address, which is so far behind the beginning of the file in memory.
    fn find(&self, address: usize, offset: usize) -> Option<&[u8]> {
        let place = if self.is_fixed { address } else { offset } as u64;
        let is_it = |symbol: &&[u8]| {
            let (Some(begin), Some(size)) = (number(symbol, 8, 8), number(symbol, 16, 8)) else { return false };
            symbol[4] & 15 == FUNCTION && begin <= place && place - begin < size.max(1)
        };
        let symbol = self.symbols.chunks_exact(SYMBOL).find(is_it)?;
        let name = self.names.get(number(symbol, 0, 4)? as usize..)?;
        Some(CStr::from_bytes_until_nul(name).ok()?.to_bytes())
    }
}

/// So many bytes at this place.
fn bytes(file: &File, begin: u64, length: u64) -> Option<Vec<u8>> {
    let size = file.metadata().ok()?.len();
    if length > MOST || begin.checked_add(length)? > size {
        return None;
    }
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, begin).ok()?;
    Some(bytes)
}

/// The number of so many bytes at this place, the lowest first.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn a_function_of_this_test() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn functions_have_names_though_they_are_not_exported() {
        let mut symbols = Symbols::default();
        let begin = a_function_of_this_test as *const () as usize;
        for address in [begin, begin + 1] {
            let name = String::from_utf8(symbols.name_of(address).to_vec()).unwrap();
            assert_eq!(name, "oxuv_os::symbol::tests::a_function_of_this_test");
        }
        assert_eq!(symbols.name_of(1), b"0x1");
    }

    #[test]
    fn names_that_are_no_names_of_rust_stay_as_they_are() {
        for name in ["main", "uv_run", "_ZN", "_R", ""] {
            assert_eq!(plain(name.as_bytes()), name.as_bytes());
        }
    }

    #[test]
    fn a_file_that_is_cut_off_has_none() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let path = std::env::temp_dir().join(format!("oxuv-symbols-{}", std::process::id()));
        for length in (0..file.len()).step_by(file.len() / 20 + 1) {
            std::fs::write(&path, &file[..length]).unwrap();
            assert!(read(&File::open(&path).unwrap()).is_none());
        }
        std::fs::remove_file(path).unwrap();
    }
}
