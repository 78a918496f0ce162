//! The machine, its system and its users: `lib/os.js` stands on these.

use std::net::IpAddr;

use oxuv::Errno;
use oxuv_os::system::cpu::{Cpus, available_parallelism};
use oxuv_os::system::interfaces::Interfaces;
use oxuv_os::system::users::{User, effective_user_id};
use oxuv_os::system::{host, load, memory, process};
use rquickjs::function::Func;
use rquickjs::{Array, Ctx, Object, Result, Value};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("names", Func::from(names))?;
    object.set("uptime", Func::from(load::uptime))?;
    object.set("loads", Func::from(|| load::average().unwrap_or_default().to_vec()))?;
    object.set("memory", Func::from(|| vec![memory::total() as f64, memory::free() as f64]))?;
    object.set("parallelism", Func::from(available_parallelism))?;
    object.set("processors", Func::from(processors))?;
    object.set("interfaces", Func::from(interfaces))?;
    object.set("user", Func::from(user))?;
    object.set("priority", Func::from(priority))?;
    object.set("setPriority", Func::from(set_priority))
}

/// System, host, release, version, machine.
fn names() -> Vec<String> {
    let uname = host::uname();
    let names = [uname.sysname(), uname.nodename(), uname.release(), uname.version(), uname.machine()];
    names.map(|name| name.to_string_lossy().into_owned()).to_vec()
}

/// Throws the number of an error.
fn throw(ctx: &Ctx<'_>, errno: Errno) -> rquickjs::Error {
    ctx.throw(Value::new_int(ctx.clone(), errno.code()))
}

/// Of each processor: model, speed, and the milliseconds in user, nice, sys, idle, irq.
fn processors(ctx: Ctx<'_>) -> Result<Array<'_>> {
    let cpus = Cpus::read().map_err(|errno| throw(&ctx, errno))?;
    let array = Array::new(ctx.clone())?;
    for (at, cpu) in cpus.list().iter().enumerate() {
        let one = Array::new(ctx.clone())?;
        one.set(0, String::from_utf8_lossy(cpus.model(cpu)).into_owned())?;
        let times = cpu.times;
        let numbers = [times.user, times.nice, times.system, times.idle, times.interrupts];
        one.set(1, cpu.speed)?;
        for (at, number) in numbers.into_iter().enumerate() {
            one.set(at + 2, number as f64)?;
        }
        array.set(at, one)?;
    }
    Ok(array)
}

/// Of each address: name of the interface, address, mask, bits of the mask or -1, hardware address, whether it is internal,
/// scope or -1.
fn interfaces(ctx: Ctx<'_>) -> Result<Array<'_>> {
    let found = Interfaces::read().map_err(|errno| throw(&ctx, errno))?;
    let array = Array::new(ctx.clone())?;
    for (at, interface) in found.iter().enumerate() {
        let one = Array::new(ctx.clone())?;
        one.set(0, interface.name.to_string_lossy().into_owned())?;
        one.set(1, interface.address.ip().to_string())?;
        let mask = interface.netmask.map(|mask| mask.ip());
        one.set(2, mask.map(|mask| mask.to_string()).unwrap_or_default())?;
        one.set(3, mask.map_or(-1, bits))?;
        let physical = interface.physical.map(|byte| format!("{byte:02x}"));
        one.set(4, physical.join(":"))?;
        one.set(5, interface.internal)?;
        one.set(
            6,
            if let std::net::SocketAddr::V6(address) = interface.address { address.scope_id().into() } else { -1.0 },
        )?;
        array.set(at, one)?;
    }
    Ok(array)
}

/// How many bits of a mask are set in front; -1 if others are, too.
fn bits(mask: IpAddr) -> i32 {
    let (ones, all) = match mask {
        IpAddr::V4(mask) => (mask.to_bits().leading_ones(), mask.to_bits().count_ones()),
        IpAddr::V6(mask) => (mask.to_bits().leading_ones(), mask.to_bits().count_ones()),
    };
    if ones == all { ones as i32 } else { -1 }
}

/// Number, group, name, home, shell of the user whose rights this process has.
fn user(ctx: Ctx<'_>) -> Result<Array<'_>> {
    let user = User::with_id(effective_user_id()).map_err(|errno| throw(&ctx, errno))?;
    let array = Array::new(ctx)?;
    array.set(0, user.id())?;
    array.set(1, user.group_id())?;
    array.set(2, user.name().to_string_lossy().into_owned())?;
    array.set(3, user.home().to_string_lossy().into_owned())?;
    array.set(4, user.shell().to_string_lossy().into_owned())?;
    Ok(array)
}

fn priority(ctx: Ctx<'_>, pid: i32) -> Result<i32> {
    process::priority(pid).map_err(|errno| throw(&ctx, errno))
}

fn set_priority(ctx: Ctx<'_>, pid: i32, priority: i32) -> Result<()> {
    process::set_priority(pid, priority).map_err(|errno| throw(&ctx, errno))
}
