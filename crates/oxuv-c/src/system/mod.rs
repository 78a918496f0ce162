//! The system and this process: memory, processors, interfaces, users, environment, names, paths.
//!
//! All of it is read anew by each call. What is handed out as an array is one piece of memory, elements first and their
//! texts behind them, so that it is there whole or not at all, and freed by one call.

mod block;
mod cpu;
mod env;
mod host;
mod interfaces;
mod load;
mod memory;
mod paths;
mod process;
pub(crate) mod room;
pub(crate) mod title;
mod users;

pub use cpu::{uv_available_parallelism, uv_cpu_info, uv_cpu_info_t, uv_cpu_times_s, uv_free_cpu_info};
pub use env::{uv_env_item_t, uv_os_environ, uv_os_free_environ, uv_os_getenv, uv_os_setenv, uv_os_unsetenv};
pub use host::{uv_os_gethostname, uv_os_uname, uv_utsname_t};
pub use interfaces::{uv_free_interface_addresses, uv_interface_address_t, uv_interface_addresses};
pub use load::{uv_loadavg, uv_uptime};
pub use memory::{
    uv_get_available_memory, uv_get_constrained_memory, uv_get_free_memory, uv_get_total_memory, uv_resident_set_memory,
};
pub use paths::{uv_chdir, uv_cwd, uv_exepath, uv_os_homedir, uv_os_tmpdir};
pub use process::{
    UV_PRIORITY_ABOVE_NORMAL, UV_PRIORITY_BELOW_NORMAL, UV_PRIORITY_HIGH, UV_PRIORITY_HIGHEST, UV_PRIORITY_LOW,
    UV_PRIORITY_NORMAL, uv_get_osfhandle, uv_getrusage, uv_getrusage_thread, uv_open_osfhandle, uv_os_getpid,
    uv_os_getppid, uv_os_getpriority, uv_os_setpriority, uv_rusage_t, uv_timeval_t,
};
pub use title::{uv_get_process_title, uv_set_process_title, uv_setup_args};
pub use users::{
    uv_group_t, uv_os_free_group, uv_os_free_passwd, uv_os_get_group, uv_os_get_passwd, uv_os_get_passwd2, uv_passwd_t,
};

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// libuv's binary interface on 64-bit systems.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn structures_are_laid_out_as_libuvs() {
        assert_eq!((size_of::<uv_cpu_info_t>(), offset_of!(uv_cpu_info_t, cpu_times)), (56, 16));
        assert_eq!((size_of::<uv_env_item_t>(), offset_of!(uv_env_item_t, value)), (16, 8));
        assert_eq!((size_of::<uv_group_t>(), offset_of!(uv_group_t, members)), (24, 16));
        assert_eq!((size_of::<uv_passwd_t>(), offset_of!(uv_passwd_t, homedir)), (40, 32));
        assert_eq!((size_of::<uv_rusage_t>(), offset_of!(uv_rusage_t, ru_nivcsw)), (144, 136));
        assert_eq!((size_of::<uv_utsname_t>(), offset_of!(uv_utsname_t, machine)), (1024, 768));
        assert_eq!(size_of::<uv_interface_address_t>(), 80);
        assert_eq!(offset_of!(uv_interface_address_t, address), 20);
        assert_eq!(offset_of!(uv_interface_address_t, netmask), 48);
    }
}
