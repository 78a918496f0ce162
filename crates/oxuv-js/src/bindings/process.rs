//! The process: arguments, environment, output, time, the end.

use std::ffi::CString;
use std::io::Write;

use oxuv::Errno;
use oxuv_os::system::users::{self, Group, Identity, User};
use rquickjs::function::Func;
use rquickjs::{Ctx, IntoJs, Object, Result, Value};

use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("args", Func::from(args))?;
    object.set("execArgs", Func::from(|ctx: Ctx<'_>| host(&ctx).options.exec_args.clone()))?;
    object.set("flags", Func::from(|ctx: Ctx<'_>| host(&ctx).options.flags.clone()))?;
    object.set("environment", Func::from(environment))?;
    object.set("channel", Func::from(channel))?;
    object.set("execPath", Func::from(exec_path))?;
    object.set("workingDirectory", Func::from(working_directory))?;
    object.set("changeDirectory", Func::from(change_directory))?;
    object.set("write", Func::from(write))?;
    object.set("nanoseconds", Func::from(nanoseconds))?;
    object.set("pid", std::process::id())?;
    object.set("parentPid", Func::from(oxuv_os::system::process::parent_id))?;
    object.set("clock", Func::from(clock))?;
    object.set("ownName", Func::from(own_name))?;
    object.set("groups", Func::from(groups))?;
    object.set("machine", std::env::consts::ARCH)?;
    object.set("version", env!("CARGO_PKG_VERSION"))?;
    object.set("epoch", Func::from(epoch))?;
    object.set("activeResources", Func::from(super::resources::active))?;
    object.set("memory", Func::from(memory))?;
    object.set("usage", Func::from(usage))?;
    object.set("ids", Func::from(ids))?;
    object.set("idOf", Func::from(id_of))?;
    object.set("setId", Func::from(set_id))?;
    object.set(
        "setGroups",
        Func::from(|groups: Vec<f64>| {
            status(users::set_groups(&groups.into_iter().map(|id| id as u32).collect::<Vec<u32>>()))
        }),
    )?;
    object.set("setGroupsOf", Func::from(set_groups_of))?;
    object.set("mask", Func::from(mask))?;
    object.set("abort", Func::from(abort))?;
    object.set("end", Func::from(end))?;
    object.set("isShort", Func::from(is_short))?;
    object.set("reallyExit", Func::from(really_exit))
}

fn args(ctx: Ctx<'_>) -> Vec<String> {
    host(&ctx).options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// The variables by which a parent tells of a channel: its descriptor, and how messages are written. Scripts do not see them.
const CHANNEL: [&str; 2] = ["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE"];

/// Their values, if there is a channel.
fn channel() -> Option<Vec<String>> {
    let [number, mode] = CHANNEL.map(|name| std::env::var(name).ok());
    Some(vec![number?, mode.unwrap_or_default()])
}

fn environment() -> Vec<Vec<String>> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let variables = std::env::vars_os().filter(|(name, _)| !CHANNEL.iter().any(|known| name == known));
    variables.map(|(name, value)| vec![text(name), text(value)]).collect()
}

fn exec_path() -> String {
    std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The path, or the negative number of an error.
fn working_directory(ctx: Ctx<'_>) -> Result<Value<'_>> {
    match std::env::current_dir() {
        Ok(path) => path.to_string_lossy().into_owned().into_js(&ctx),
        Err(error) => oxuv::Errno::from(error).code().into_js(&ctx),
    }
}

/// Zero, or the negative number of an error.
fn change_directory(path: String) -> i32 {
    std::env::set_current_dir(path).map_or_else(|error| oxuv::Errno::from(error).code(), |()| 0)
}

/// The name by which the program was called.
fn own_name() -> String {
    std::env::args_os().next().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn groups() -> Vec<u32> {
    let mut groups = rustix::process::getgroups().unwrap_or_default();
    // The system need not list it.
    let own = rustix::process::getegid();
    if !groups.contains(&own) {
        groups.push(own);
    }
    groups.into_iter().map(|group| group.as_raw()).collect()
}

/// Writes text to standard output (1) or error (2), all of it. What nobody reads any more is dropped.
fn write(number: i32, text: String) {
    let outcome = if number == 2 {
        std::io::stderr().lock().write_all(text.as_bytes())
    } else {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
    drop(outcome);
}

/// The monotonic clock, in nanoseconds.
pub(crate) fn nanoseconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// The monotonic clock: seconds and nanoseconds.
fn clock() -> Vec<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    vec![time.tv_sec as f64, time.tv_nsec as f64]
}

/// Milliseconds since 1970, with fractions.
fn epoch() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Bytes: the resident set, the memory that is asked of the system for data, and what of it is resident. The engine does
/// not say how much it uses while it runs.
fn memory() -> Vec<f64> {
    let page = rustix::param::page_size() as f64;
    let said = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Vec<f64> = said.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect();
    // Size, resident, shared, text, libraries, data.
    match pages[..] {
        [_, resident, shared, _, _, data, ..] => {
            let used = resident - shared;
            vec![resident * page, data.max(used) * page, used * page]
        }
        _ => vec![0.0; 3],
    }
}

/// What `getrusage` says, in the order of `process.resourceUsage()`; times in microseconds.
fn usage() -> Vec<f64> {
    let Ok(usage) = oxuv_os::system::process::usage(oxuv_os::system::process::Whose::Process) else {
        return Vec::new();
    };
    let counts = [
        usage.ru_utime.tv_sec * 1_000_000 + usage.ru_utime.tv_usec,
        usage.ru_stime.tv_sec * 1_000_000 + usage.ru_stime.tv_usec,
        usage.ru_maxrss,
        usage.ru_ixrss,
        usage.ru_idrss,
        usage.ru_isrss,
        usage.ru_minflt,
        usage.ru_majflt,
        usage.ru_nswap,
        usage.ru_inblock,
        usage.ru_oublock,
        usage.ru_msgsnd,
        usage.ru_msgrcv,
        usage.ru_nsignals,
        usage.ru_nvcsw,
        usage.ru_nivcsw,
    ];
    counts.iter().map(|count| *count as f64).collect()
}

/// User, effective user, group, effective group.
fn ids() -> Vec<u32> {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    vec![getuid().as_raw(), geteuid().as_raw(), getgid().as_raw(), getegid().as_raw()]
}

fn status(result: oxuv::Result<()>) -> i32 {
    result.err().map_or(0, Errno::code)
}

/// The number of a user, or else of a group, with this name. `undefined` if there is none.
fn id_of(name: String, is_user: bool) -> Option<f64> {
    let name = CString::new(name).ok()?;
    let id = if is_user { User::with_name(&name).ok()?.id() } else { Group::with_name(&name).ok()?.id() };
    Some(f64::from(id))
}

/// Becomes another user (0, effective 1) or group (2, 3); the status.
fn set_id(which: usize, id: f64) -> i32 {
    const IDENTITIES: [Identity; 4] =
        [Identity::User, Identity::EffectiveUser, Identity::Group, Identity::EffectiveGroup];
    status(users::become_other(IDENTITIES[which], id as u32))
}

/// Sets the groups to those of this user, by name or number, and this one; the status. `undefined` if there is no such user.
fn set_groups_of(name: Option<String>, id: f64, group: f64) -> Option<i32> {
    let name = match name {
        Some(name) => CString::new(name).ok()?,
        None => User::with_id(id as u32).ok()?.name().to_owned(),
    };
    Some(status(users::set_groups_of(&name, group as u32)))
}

/// Sets the mask of new files; the one before.
fn mask(bits: u32) -> u32 {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(bits)).as_raw_mode()
}

/// Whether this was thrown because memory is short.
fn is_short<'js>(ctx: Ctx<'js>, thrown: Value<'js>) -> bool {
    host(&ctx).is_short(&thrown)
}

/// Nothing of the script is called any more, and the loop ends.
fn end(ctx: Ctx<'_>, code: i32) {
    host(&ctx).end(code);
}

/// Ends the process here and now, or the worker.
fn really_exit(ctx: Ctx<'_>, code: i32) -> Result<()> {
    let host = host(&ctx);
    if host.life.is_some() {
        // Only the thread ends: what runs of its script is interrupted, here at the latest.
        host.end(code);
        return ctx.eval("for (;;);");
    }
    let _ = std::io::stdout().flush();
    host.finish_observing();
    // A terminal goes on as the script found it.
    let _ = oxuv::Tty::reset_mode();
    std::process::exit(code)
}

/// Ends the process here and now, with a core file where the system makes one.
fn abort() {
    std::process::abort()
}
