//! `abi/layout.tsv` has the layout of libuv's types on 64-bit x86: our header agrees with it, and so do our structures.

use std::mem::{align_of, offset_of, size_of};

use crate::facts::{Header, Member};

const TABLE: &str = include_str!("../../abi/layout.tsv");

/// A line of the table.
pub(crate) struct Row {
    pub(crate) of: &'static str,
    /// `None`: all of the type.
    pub(crate) field: Option<&'static str>,
    /// The offset, or `-` of a whole type; the size; the declared type, or the alignment.
    pub(crate) layout: String,
    declared: &'static str,
    /// Offset and size in libuv 1.44, or `None` if it was not there.
    pub(crate) place_in_1_44: Option<String>,
}

impl Row {
    pub(crate) fn member(&self) -> Member<'static> {
        Member { of: self.of, field: self.field, declared: self.declared }
    }

    pub(crate) fn name(&self) -> String {
        self.field.map_or(self.of.to_string(), |field| format!("{}.{field}", self.of))
    }
}

pub(crate) fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [of, field, offset, size, declared, _, older] = columns[..] else { panic!("{line}") };
        let layout = format!("{offset} {size} {declared}");
        let place_in_1_44 = match older.split_once(',') {
            Some((offset, size)) => Some(format!("{offset} {size}")),
            None if older == "same" => Some(format!("{offset} {size}")),
            None => None,
        };
        Row { of, field: (field != "-").then_some(field), layout, declared, place_in_1_44 }
    };
    TABLE.lines().skip(1).map(row).collect()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_header_agrees_with_libuv() {
    let rows = rows();
    let found = Header::ours().layout(&rows.iter().map(Row::member).collect::<Vec<_>>());
    for (row, found) in rows.iter().zip(found) {
        assert_eq!(found.as_deref(), Some(row.layout.as_str()), "{}", row.name());
    }
}

/// What the table says of a name: offset and size, or size and alignment.
fn fact(name: &str) -> (usize, usize) {
    let row = rows().into_iter().find(|row| row.name() == name);
    let layout = row.unwrap_or_else(|| panic!("the table has no {name}")).layout;
    let numbers: Vec<usize> = layout.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

/// Compares structures of this crate with the table: the Rust type, then fields as C names them, each with its path in
/// Rust. Returns the names of the types.
macro_rules! compare {
    ($($of:ident { $($field:literal: $($path:ident).+),* $(,)? })*) => {[$({
        let name = stringify!($of);
        assert_eq!((size_of::<uv::$of>(), align_of::<uv::$of>()), fact(name), "{name}");
        $({
            let field = format!("{name}.{}", $field);
            assert_eq!(offset_of!(uv::$of, $($path).+), fact(&field).0, "{field}");
        })*
        name
    }),*]};
}

#[test]
#[cfg(target_arch = "x86_64")]
fn rust_agrees_with_libuv() {
    let compared = compare! {
        uv_loop_t { "data": data }
        uv_handle_t { "data": data, "loop": r#loop, "type": r#type }
        uv_async_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_timer_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_idle_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_prepare_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_check_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_stream_t {
            "data": handle.data, "loop": handle.r#loop, "type": handle.r#type,
            "write_queue_size": write_queue_size, "io_watcher.fd": io_watcher.fd,
        }
        uv_pipe_t {
            "data": stream.handle.data, "loop": stream.handle.r#loop, "type": stream.handle.r#type,
            "write_queue_size": stream.write_queue_size, "io_watcher.fd": stream.io_watcher.fd, "ipc": ipc, "pipe_fname": pipe_fname,
        }
        uv_tcp_t {
            "data": stream.handle.data, "loop": stream.handle.r#loop, "type": stream.handle.r#type,
            "write_queue_size": stream.write_queue_size, "io_watcher.fd": stream.io_watcher.fd,
        }
        uv_tty_t {
            "data": stream.handle.data, "loop": stream.handle.r#loop, "type": stream.handle.r#type,
            "write_queue_size": stream.write_queue_size, "io_watcher.fd": stream.io_watcher.fd,
        }
        uv__io_t { "fd": fd }
        uv_req_t { "data": data, "type": r#type }
        uv_write_t { "data": req.data, "type": req.r#type, "send_handle": send_handle, "handle": handle }
        uv_shutdown_t { "data": req.data, "type": req.r#type, "handle": handle }
        uv_buf_t { "base": base, "len": len }
        uv_poll_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type, "io_watcher.fd": io_watcher.fd }
        uv_process_t {
            "data": handle.data, "loop": handle.r#loop, "type": handle.r#type, "exit_cb": exit_cb, "pid": pid,
            "status": status,
        }
        uv_process_options_t {
            "exit_cb": exit_cb, "file": file, "args": args, "env": env, "cwd": cwd, "flags": flags,
            "stdio_count": stdio_count, "stdio": stdio, "uid": uid, "gid": gid,
        }
        uv_stdio_container_t { "flags": flags, "data": data }
        uv_signal_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type, "signum": signum }
        uv_udp_t {
            "data": handle.data, "loop": handle.r#loop, "type": handle.r#type, "send_queue_size": send_queue_size,
            "send_queue_count": send_queue_count, "io_watcher.fd": io_watcher.fd,
        }
        uv_fs_event_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_fs_poll_t { "data": handle.data, "loop": handle.r#loop, "type": handle.r#type }
        uv_udp_send_t { "data": req.data, "type": req.r#type, "handle": handle }
        uv_connect_t { "data": req.data, "type": req.r#type, "handle": handle }
        uv_metrics_t { "loop_count": loop_count, "events": events, "events_waiting": events_waiting }
        uv_timeval_t { "tv_sec": tv_sec, "tv_usec": tv_usec }
        uv_rusage_t { "ru_utime": ru_utime, "ru_stime": ru_stime, "ru_maxrss": ru_maxrss, "ru_ixrss": ru_ixrss, "ru_idrss": ru_idrss, "ru_isrss": ru_isrss, "ru_minflt": ru_minflt, "ru_majflt": ru_majflt, "ru_nswap": ru_nswap, "ru_inblock": ru_inblock, "ru_oublock": ru_oublock, "ru_msgsnd": ru_msgsnd, "ru_msgrcv": ru_msgrcv, "ru_nsignals": ru_nsignals, "ru_nvcsw": ru_nvcsw, "ru_nivcsw": ru_nivcsw }
        uv_utsname_t { "sysname": sysname, "release": release, "version": version, "machine": machine }
        uv_passwd_t { "username": username, "uid": uid, "gid": gid, "shell": shell, "homedir": homedir }
        uv_group_t { "groupname": groupname, "gid": gid, "members": members }
        uv_interface_address_t { "name": name, "phys_addr": phys_addr, "is_internal": is_internal, "address": address, "netmask": netmask }
        uv_env_item_t { "name": name, "value": value }
        uv_cpu_info_t {
            "model": model, "speed": speed, "cpu_times.user": cpu_times.user, "cpu_times.nice": cpu_times.nice,
            "cpu_times.sys": cpu_times.sys, "cpu_times.idle": cpu_times.idle, "cpu_times.irq": cpu_times.irq,
        }
        uv_work_t { "data": req.data, "type": req.r#type, "loop": r#loop }
        uv_getaddrinfo_t { "data": req.data, "type": req.r#type, "loop": r#loop, "addrinfo": addrinfo }
        uv_getnameinfo_t { "data": req.data, "type": req.r#type, "loop": r#loop, "host": host, "service": service }
        uv_random_t { "data": req.data, "type": req.r#type, "loop": r#loop }
        uv_thread_options_t { "flags": flags, "stack_size": stack_size }
        uv_timespec64_t { "tv_sec": tv_sec, "tv_nsec": tv_nsec }
        uv_timeval64_t { "tv_sec": tv_sec, "tv_usec": tv_usec }
        uv_lib_t {}
        uv_fs_t {
            "data": req.data, "type": req.r#type, "fs_type": fs_type, "loop": r#loop, "result": result, "ptr": ptr,
            "path": path, "statbuf": statbuf, "new_path": new_path, "bufs": bufs,
        }
        uv_stat_t {
            "st_dev": st_dev, "st_mode": st_mode, "st_nlink": st_nlink, "st_uid": st_uid, "st_gid": st_gid,
            "st_rdev": st_rdev, "st_ino": st_ino, "st_size": st_size, "st_blksize": st_blksize, "st_blocks": st_blocks,
            "st_flags": st_flags, "st_gen": st_gen, "st_atim": st_atim, "st_mtim": st_mtim, "st_ctim": st_ctim,
            "st_birthtim": st_birthtim,
        }
        uv_timespec_t { "tv_sec": tv_sec, "tv_nsec": tv_nsec }
        uv_statfs_t {
            "f_type": f_type, "f_bsize": f_bsize, "f_blocks": f_blocks, "f_bfree": f_bfree, "f_bavail": f_bavail,
            "f_files": f_files, "f_ffree": f_ffree, "f_frsize": f_frsize,
        }
        uv_dirent_t { "name": name, "type": r#type }
        uv_dir_t { "dirents": dirents, "nentries": nentries }
    };
    // The watchers are one structure in Rust, which has no name in C; nor have these parts of others.
    let unnamed = ["uv_watcher_t", "uv_interface_address_of_family", "uv_cpu_times_s"];
    let known = [&compared[..], &unnamed].concat();
    let left_out: Vec<String> = structures().into_iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(left_out.is_empty(), "to be compared above: {left_out:?}");
}

/// The structures that this crate shares with C.
fn structures() -> Vec<String> {
    let mut names = Vec::new();
    let mut directories = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let source = std::fs::read_to_string(path).unwrap();
            for keyword in ["pub struct uv_", "pub union uv_"] {
                names.extend(source.split(keyword).skip(1).map(|rest| {
                    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                    format!("uv_{name}")
                }));
            }
        }
    }
    names
}
