//! Names of ARM's own processor cores: a 64-bit kernel tells their part number only.

/// The name of a core by its part number, as /proc/cpuinfo has it: `0xd08`.
pub(super) fn core_name(part: &[u8]) -> Option<&'static [u8]> {
    let hex = std::str::from_utf8(part.strip_prefix(b"0x")?).ok()?;
    let part = u32::from_str_radix(hex, 16).ok()?;
    CORES.iter().find(|&&(number, _)| number == part).map(|&(_, name)| name.as_bytes())
}

/// From the technical reference manuals: the part number in the main id register.
const CORES: &[(u32, &str)] = &[
    (0x810, "ARM810"),
    (0x920, "ARM920"),
    (0x922, "ARM922"),
    (0x926, "ARM926"),
    (0x940, "ARM940"),
    (0x946, "ARM946"),
    (0x966, "ARM966"),
    (0xa20, "ARM1020"),
    (0xa22, "ARM1022"),
    (0xa26, "ARM1026"),
    (0xb02, "ARM11 MPCore"),
    (0xb36, "ARM1136"),
    (0xb56, "ARM1156"),
    (0xb76, "ARM1176"),
    (0xc05, "Cortex-A5"),
    (0xc07, "Cortex-A7"),
    (0xc08, "Cortex-A8"),
    (0xc09, "Cortex-A9"),
    (0xc0d, "Cortex-A17"),
    (0xc0e, "Cortex-A17"),
    (0xc0f, "Cortex-A15"),
    (0xc14, "Cortex-R4"),
    (0xc15, "Cortex-R5"),
    (0xc17, "Cortex-R7"),
    (0xc18, "Cortex-R8"),
    (0xc20, "Cortex-M0"),
    (0xc21, "Cortex-M1"),
    (0xc23, "Cortex-M3"),
    (0xc24, "Cortex-M4"),
    (0xc27, "Cortex-M7"),
    (0xc60, "Cortex-M0+"),
    (0xd01, "Cortex-A32"),
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd06, "Cortex-A65"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd0d, "Cortex-A77"),
    (0xd0e, "Cortex-A76AE"),
    (0xd13, "Cortex-R52"),
    (0xd20, "Cortex-M23"),
    (0xd21, "Cortex-M33"),
    (0xd40, "Neoverse-V1"),
    (0xd41, "Cortex-A78"),
    (0xd42, "Cortex-A78AE"),
    (0xd44, "Cortex-X1"),
    (0xd46, "Cortex-A510"),
    (0xd47, "Cortex-A710"),
    (0xd48, "Cortex-X2"),
    (0xd49, "Neoverse-N2"),
    (0xd4a, "Neoverse-E1"),
    (0xd4b, "Cortex-A78C"),
    (0xd4d, "Cortex-A715"),
    (0xd4e, "Cortex-X3"),
    (0xd4f, "Neoverse-V2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_have_names() {
        assert_eq!(core_name(b"0xd08"), Some(b"Cortex-A72".as_slice()));
        assert_eq!(core_name(b"0xfff"), None);
        assert_eq!(core_name(b"d08"), None);
        assert_eq!(core_name(b"0x"), None);
    }

    #[test]
    fn numbers_are_unique_and_in_order() {
        assert!(CORES.is_sorted_by(|a, b| a.0 < b.0));
    }
}
