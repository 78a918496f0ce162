use super::Kind;
use super::fault::Fault;
use super::parser::{Asked, Parser};
use super::told::{Told, told};

/// What a parser says of these bytes, one thing a line.
fn tell(parser: &mut Parser, bytes: &[u8]) -> Vec<String> {
    told(parser, bytes).iter().map(Told::to_string).collect()
}

fn requests(bytes: &[u8]) -> Vec<String> {
    tell(&mut Parser::new(Kind::Request, 16384, false), bytes)
}

fn responses(bytes: &[u8]) -> Vec<String> {
    tell(&mut Parser::new(Kind::Response, 16384, false), bytes)
}

#[test]
fn requests_come_one_after_the_other() {
    assert_eq!(
        requests(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n\r\nPOST /b HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi"),
        ["6 /a alive Host=x", "end", "19 /b Content-Length=2", "hi", "end"]
    );
}

#[test]
fn pieces_of_any_size_say_the_same() {
    let all = b"PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;name=\"v\"\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\nU:\r\n\r\n\
        GET / HTTP/1.1\r\n\r\n";
    let expected =
        ["23 /x alive Transfer-Encoding=chunked", "abc", "0123456789", "endT=1|U=", "6 / alive ", "end"].join("");
    for size in 1..all.len() {
        let mut parser = Parser::new(Kind::Request, 16384, false);
        let told: Vec<String> = all.chunks(size).flat_map(|piece| tell(&mut parser, piece)).collect();
        assert_eq!(told.join(""), expected, "pieces of {size}");
        assert!(parser.is_between());
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let head = "POST / HTTP/1.1\r\n";
    for (rest, code) in [
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "HPE_UNEXPECTED_CONTENT_LENGTH"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "HPE_UNEXPECTED_CONTENT_LENGTH"),
        ("Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "HPE_UNEXPECTED_CONTENT_LENGTH"),
        ("Content-Length: +1\r\n\r\n", "HPE_INVALID_CONTENT_LENGTH"),
        ("Content-Length: 1, 1\r\n\r\n", "HPE_INVALID_CONTENT_LENGTH"),
        ("Content-Length:\r\n\r\n", "HPE_INVALID_CONTENT_LENGTH"),
        ("Content-Length: 99999999999999999999\r\n\r\n", "HPE_INVALID_CONTENT_LENGTH"),
        ("Transfer-Encoding: chunked, gzip\r\n\r\n", "HPE_INVALID_TRANSFER_ENCODING"),
        ("Transfer-Encoding: chunked, identity\r\n\r\n", "HPE_INVALID_TRANSFER_ENCODING"),
        ("Transfer-Encoding: chunkedx\r\n\r\n", "HPE_INVALID_TRANSFER_ENCODING"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n", "HPE_INVALID_TRANSFER_ENCODING"),
        ("Transfer-Encoding : chunked\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("A: b\r\n c\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        (" A: b\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("A: b\nC: d\r\n\r\n", "HPE_CR_EXPECTED"),
        ("A: b\rC: d\r\n\r\n", "HPE_LF_EXPECTED"),
        ("A: b\r\n\n", "HPE_CR_EXPECTED"),
        // The end of a head is the same for all.
        ("A: b\r\n\rGET / HTTP/1.1\r\n\r\n", "HPE_LF_EXPECTED"),
        (" Content-Length: 1\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("Content\rLength: 1\r\n\r\n", "HPE_LF_EXPECTED"),
        ("Transfer-Encoding: chunked \x0b\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("Transfer-Encoding:\r\n chunked\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("A: \x01\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("A: \0\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("no colon\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        (": no name\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
    ] {
        assert_eq!(requests(format!("{head}{rest}").as_bytes()).last().unwrap(), code, "{rest:?}");
    }
    for (first, code) in [
        ("FOO / HTTP/1.1\r\n\r\n", "HPE_INVALID_METHOD"),
        ("get / HTTP/1.1\r\n\r\n", "HPE_INVALID_METHOD"),
        ("\x16\x03\x01\x02", "HPE_INVALID_METHOD"),
        ("GET  / HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET / HTTP/1.1 \r\n\r\n", "HPE_LF_EXPECTED"),
        ("GET ? HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET y HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET [a] HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET 1.2 HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET http:a HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET http://a#b HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET http://a@b@c HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("CONNECT a#b HTTP/1.1\r\n\r\n", "HPE_INVALID_URL"),
        ("GET / HTTP/3.1\r\n\r\n", "HPE_INVALID_VERSION"),
        ("GET / HTTP/1.1\n\n", "HPE_CR_EXPECTED"),
    ] {
        assert_eq!(requests(first.as_bytes()), [code], "{first:?}");
    }
}

#[test]
fn spaces_around_a_value_are_not_a_part_of_it() {
    assert_eq!(
        requests(b"POST / HTTP/1.1\r\nA:\t b \t\r\nTransfer-Encoding: \tchunked \r\n\r\n0\r\n\r\n"),
        ["19 / alive A=b|Transfer-Encoding=chunked", "end"]
    );
}

#[test]
fn targets_are_of_four_forms() {
    for target in
        ["GET /y", "OPTIONS *", "GET http://a:1/b#c", "GET http://a@[::1]?d", "CONNECT a:1", "CONNECT [::1]:2"]
    {
        assert_ne!(requests(format!("{target} HTTP/1.1\r\n\r\n").as_bytes()), ["HPE_INVALID_URL"], "{target}");
    }
    // It is refused before anybody is told of a request.
    let codings = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n";
    assert_eq!(requests(codings), ["HPE_INVALID_TRANSFER_ENCODING"]);
}

#[test]
fn chunks_are_strict() {
    for (chunks, code) in [
        ("x\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("-1\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("0x1\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1 \r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1\t\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1 ;a\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1 1\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1;a\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1\rX\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1;a\rb\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("11111111111111111\r\n", "HPE_INVALID_CHUNK_SIZE"),
        ("1\r\nab\r\n", "a HPE_STRICT"),
        ("1\r\na\n", "a HPE_STRICT"),
        ("1\r\na\r\r", "a HPE_STRICT"),
        ("0\r\nA : b\r\n\r\n", "HPE_INVALID_HEADER_TOKEN"),
        ("0\r\nA: b\n\r\n", "HPE_CR_EXPECTED"),
        ("0\r\n\n", "HPE_CR_EXPECTED"),
    ] {
        let told = requests(format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}").as_bytes());
        assert_eq!(told[1..].join(" "), code, "{chunks:?}");
    }
}

#[test]
fn limits_hold() {
    let long = |count: usize| format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(count));
    assert_eq!(requests(long(16384 - 2).as_bytes()), ["HPE_HEADER_OVERFLOW"]);
    assert_eq!(requests(long(16384 - 3).as_bytes()).len(), 2);
    // Without an end.
    let mut parser = Parser::new(Kind::Request, 1000, false);
    let mut told = tell(&mut parser, b"GET / HTTP/1.1\r\n");
    let mut count = 0;
    while told.is_empty() {
        told = tell(&mut parser, b"A: b\r\n");
        count += 1;
    }
    assert_eq!(told, ["HPE_HEADER_OVERFLOW"]);
    assert!(count < 1000, "{count}");
    // It stays so.
    assert_eq!(tell(&mut parser, b"\r\n"), ["HPE_HEADER_OVERFLOW"]);
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (rest, code) in [("1;", "HPE_CHUNK_EXTENSIONS_OVERFLOW"), ("0\r\n", "HPE_HEADER_OVERFLOW")] {
        let mut parser = Parser::new(Kind::Request, 1000, false);
        tell(&mut parser, head.as_bytes());
        let mut told = tell(&mut parser, rest.as_bytes());
        for _ in 0..2000 {
            told.append(&mut tell(&mut parser, b"a"));
        }
        assert_eq!(told[0], code, "{rest:?}");
    }
}

#[test]
fn bodies_of_responses_end_as_they_should() {
    assert_eq!(responses(b"HTTP/1.1 200 OK\r\n\r\nall"), ["200 OK ", "all"]);
    assert_eq!(responses(b"HTTP/0.9 200 OK\r\n\r\nall"), ["200 OK ", "all"]);
    assert_eq!(responses(b"HTTP/1.1 204 No Content\r\n\r\n"), ["204 No Content alive ", "end"]);
    assert_eq!(responses(b"HTTP/1.1 304\r\nContent-Length: 7\r\n\r\n"), ["304  alive Content-Length=7", "end"]);
    assert_eq!(
        responses(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
        ["100 Continue alive ", "end", "200 OK alive Content-Length=1", "x", "end"]
    );
    let mut parser = Parser::new(Kind::Response, 16384, false);
    parser.ask(Asked::Head);
    assert_eq!(
        tell(&mut parser, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
        ["200 OK alive Content-Length=9", "end"]
    );
    assert_eq!(parser.finish(), Ok(false));
    let mut parser = Parser::new(Kind::Response, 16384, false);
    tell(&mut parser, b"HTTP/1.0 200 OK\r\n\r\nx");
    assert_eq!(parser.left(), f64::INFINITY);
    assert_eq!(parser.finish(), Ok(true));
    let mut parser = Parser::new(Kind::Response, 16384, false);
    tell(&mut parser, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
    assert_eq!(parser.left(), 8.0);
    assert_eq!(parser.finish(), Err(Fault::EOF));
}

#[test]
fn other_protocols_begin_behind_the_head() {
    let upgrade = b"GET / HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: x\r\n\r\nREST";
    let head = "6 / alive upgrade Connection=keep-alive, Upgrade|Upgrade=x";
    assert_eq!(requests(upgrade), [head, "rest REST"]);
    // Or do not.
    let mut parser = Parser::new(Kind::Request, 16384, false);
    assert_eq!(tell(&mut parser, &upgrade[..upgrade.len() - 4]), [head]);
    parser.decide(false);
    assert_eq!(tell(&mut parser, b"what came with it"), ["end"]);
    assert_eq!(tell(&mut parser, b"GET / HTTP/1.1\r\n\r\n"), ["6 / alive ", "end"]);
    assert_eq!(requests(b"CONNECT a:1 HTTP/1.1\r\n\r\nx"), ["3 a:1 alive upgrade ", "rest x"]);
    let mut parser = Parser::new(Kind::Response, 16384, false);
    parser.ask(Asked::Connect);
    assert_eq!(tell(&mut parser, b"HTTP/1.1 200 OK\r\n\r\nx"), ["200 OK upgrade ", "rest x"]);
}

#[test]
fn nothing_follows_the_last_message() {
    let close = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert_eq!(requests(format!("{close}\r\n").as_bytes()), ["6 / Connection=close", "end"]);
    assert_eq!(requests(format!("{close}{close}").as_bytes()), ["6 / Connection=close", "end"]);
}

#[test]
fn leniency_lets_control_characters_and_two_lengths_pass() {
    let mut parser = Parser::new(Kind::Request, 16384, true);
    let told = tell(
        &mut parser,
        b"POST /\xe4 HTTP/1.1\r\nA: b\x08\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("A=b\x08|"), "{told:?}");
    // Octets pass without it, too.
    assert_eq!(requests(b"GET /\xe4 HTTP/1.1\r\nA: \xe4\r\n\r\n"), ["6 /\u{e4} alive A=\u{e4}", "end"]);
    assert_eq!(requests(b"GET /\xff HTTP/1.1\r\n\r\n").len(), 2);
}
