//! URLs, by the crate `url`.

use rquickjs::function::Func;
use rquickjs::{Object, Result};
use url::{Url, quirks};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("parse", Func::from(parse))?;
    object.set("change", Func::from(change))?;
    object.set("toAscii", Func::from(|domain: String| quirks::domain_to_ascii(&domain)))?;
    object.set("toUnicode", Func::from(|domain: String| quirks::domain_to_unicode(&domain)))
}

/// The parts of a URL, in the order of `parts`. `undefined` if it is none.
fn parse(input: String, base: Option<String>) -> Option<Vec<String>> {
    let base = base.map(|base| Url::parse(&base)).transpose().ok()?;
    let url = Url::options().base_url(base.as_ref()).parse(&input).ok()?;
    Some(parts(&url))
}

/// The parts once one of them is set. `undefined` if the URL is not changed by that; an `href` may be none.
fn change(href: String, part: String, value: String) -> Option<Vec<String>> {
    let mut url = Url::parse(&href).ok()?;
    match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).ok()?,
        "protocol" => quirks::set_protocol(&mut url, &value).ok()?,
        "username" => quirks::set_username(&mut url, &value).ok()?,
        "password" => quirks::set_password(&mut url, &value).ok()?,
        "host" => quirks::set_host(&mut url, &value).ok()?,
        "hostname" => quirks::set_hostname(&mut url, &value).ok()?,
        "port" => quirks::set_port(&mut url, &value).ok()?,
        "pathname" => quirks::set_pathname(&mut url, &value),
        "search" => quirks::set_search(&mut url, &value),
        "hash" => quirks::set_hash(&mut url, &value),
        _ => return None,
    }
    Some(parts(&url))
}

fn parts(url: &Url) -> Vec<String> {
    let parts = [
        quirks::href(url),
        &quirks::origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    parts.map(str::to_owned).to_vec()
}
