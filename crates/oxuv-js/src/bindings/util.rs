//! What a script cannot see of its values but `util` shows: inside proxies and promises; and the names of system errors.

use oxuv::Errno;
use rquickjs::function::Func;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, IntoJs, Object, Result, Value};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("proxyDetails", Func::from(proxy_details))?;
    object.set("promiseDetails", Func::from(promise_details))?;
    object.set("isProxy", Func::from(|value: Value<'_>| value.is_proxy()))?;
    object.set("isPromise", Func::from(|value: Value<'_>| value.is_promise()))?;
    object.set("systemError", Func::from(system_error))?;
    object.set("systemErrors", Func::from(system_errors))
}

/// Target and handler of a proxy, both `null` once it is revoked; `undefined` for what is no proxy.
fn proxy_details<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
    let Some(proxy) = value.as_proxy() else { return Ok(Value::new_undefined(ctx)) };
    let details = Array::new(ctx.clone())?;
    match (proxy.target(), proxy.handler()) {
        (Ok(target), Ok(handler)) => {
            details.set(0, target)?;
            details.set(1, handler)?;
        }
        _ => {
            // The engine has thrown; here that is an answer.
            let _ = ctx.catch();
            details.set(0, Value::new_null(ctx.clone()))?;
            details.set(1, Value::new_null(ctx))?;
        }
    }
    Ok(details.into_value())
}

/// State (0 pending, 1 fulfilled, 2 rejected) and value of a promise; `undefined` for what is no promise.
fn promise_details<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
    let Some(promise) = value.as_promise() else { return Ok(Value::new_undefined(ctx)) };
    let details = Array::new(ctx.clone())?;
    match promise.state() {
        PromiseState::Pending => details.set(0, 0)?,
        PromiseState::Resolved => {
            details.set(0, 1)?;
            if let Some(Ok(value)) = promise.result::<Value<'js>>() {
                details.set(1, value)?;
            }
        }
        PromiseState::Rejected => {
            details.set(0, 2)?;
            // The result of a rejected promise comes as what it would throw.
            let _ = promise.result::<Value<'js>>();
            details.set(1, ctx.catch())?;
        }
    }
    Ok(details.into_value())
}

/// Name and message of a system error by its negative number; `undefined` for a number that has none.
fn system_error<'js>(ctx: Ctx<'js>, number: i32) -> Result<Value<'js>> {
    let errno = Errno::from_raw(number.saturating_neg());
    match (errno.name(), errno.message()) {
        (Some(name), Some(message)) if errno.code() == number => vec![name, message].into_js(&ctx),
        _ => Ok(Value::new_undefined(ctx)),
    }
}

/// The negative numbers of all errors that have a name.
fn system_errors() -> Vec<i32> {
    (1..=4095).map(Errno::from_raw).filter(|errno| errno.name().is_some()).map(Errno::code).collect()
}
