//! What the script says of a child that is to be made.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use oxuv::{Command, Pipe, Stdio};
use rquickjs::{Array, Class, Ctx, FromJs, Object, Result, String as Text, Value};

use crate::bindings::stream::{AnyStream, Stream};
use crate::host::Host;
use oxuv_js_engine::{Bytes, text_of};

/// A slot of the child's descriptors.
pub(super) enum Slot {
    Ignore,
    /// A connection; with the bytes that are to be written to it at once.
    Pipe(Option<Bytes>),
    /// What we have under this number.
    Number(i32),
    /// What this handle has.
    Stream(AnyStream),
}

/// A child to be made.
pub(super) struct Request {
    file: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    directory: Option<OsString>,
    user: Option<u32>,
    group: Option<u32>,
    is_detached: bool,
    pub(super) slots: Vec<Slot>,
}

impl<'js> FromJs<'js> for Request {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Request> {
        let object = Object::from_value(value)?;
        let directory: Option<Text<'js>> = object.get("cwd")?;
        let number = |name| object.get::<_, Option<f64>>(name).map(|number| number.map(|number| number as i64 as u32));
        Ok(Request {
            file: os_text(&object.get("file")?)?,
            args: texts(object.get("args")?)?,
            env: texts(object.get("envPairs")?)?.into_iter().filter_map(split).collect(),
            directory: directory.as_ref().map(os_text).transpose()?,
            user: number("uid")?,
            group: number("gid")?,
            is_detached: object.get::<_, Option<bool>>("detached")?.unwrap_or(false),
            slots: object.get::<_, Array<'js>>("stdio")?.iter().map(|slot| slot_of(&slot?)).collect::<Result<_>>()?,
        })
    }
}

fn slot_of(object: &Object<'_>) -> Result<Slot> {
    Ok(match object.get::<_, String>("type")?.as_str() {
        "pipe" | "overlapped" => Slot::Pipe(object.get("input")?),
        "inherit" | "fd" => Slot::Number(object.get("fd")?),
        "wrap" => {
            let stream: Class<'_, Stream> = object.get("handle")?;
            Slot::Stream(stream.borrow().stream.clone())
        }
        _ => Slot::Ignore,
    })
}

fn os_text(text: &Text<'_>) -> Result<OsString> {
    text_of(text).map(|text| OsString::from_vec(text.into_bytes()))
}

fn texts(array: Option<Array<'_>>) -> Result<Vec<OsString>> {
    let Some(array) = array else { return Ok(Vec::new()) };
    array.iter().map(|text| os_text(&text?)).collect()
}

/// A variable and its value; a name may begin with the sign that ends it.
fn split(pair: OsString) -> Option<(OsString, OsString)> {
    let mut pair = pair.into_vec();
    let at = 1 + pair.get(1..)?.iter().position(|byte| *byte == b'=')?;
    let value = pair.split_off(at + 1);
    pair.pop();
    Some((OsString::from_vec(pair), OsString::from_vec(value)))
}

impl Request {
    /// The command, whose slots that are connections get these pipes in turn.
    ///
    /// # Errors
    /// EBADF for a number that is no descriptor of the script's or the process's.
    pub(super) fn command<'a>(&self, host: &Host, pipes: impl IntoIterator<Item = &'a Pipe>) -> oxuv::Result<Command> {
        let mut command = Command::new(&self.file);
        if let Some((name, args)) = self.args.split_first() {
            command.arg0(name).args(args);
        }
        command.env_clear();
        for (name, value) in &self.env {
            command.env(name, value);
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if let Some(user) = self.user {
            command.uid(user);
        }
        if let Some(group) = self.group {
            command.gid(group);
        }
        command.detached(self.is_detached);
        let mut pipes = pipes.into_iter();
        for (number, slot) in self.slots.iter().enumerate() {
            let number = u16::try_from(number).map_err(|_| oxuv::Errno::EINVAL)?;
            let stdio = match slot {
                Slot::Ignore => Stdio::null(),
                Slot::Pipe(_) => pipes.next().map_or_else(Stdio::null, Stdio::duplex),
                Slot::Stream(stream) => Stdio::handle(stream.handle()),
                Slot::Number(number) => Stdio::number(host.files.number(*number)?),
            };
            command.descriptor(number, stdio);
        }
        Ok(command)
    }
}
