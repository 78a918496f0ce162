//! What is wrong with a message, in the words that Node has for it.

/// The code of the error and the reason that it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) reason: &'static str,
    /// Up to where the bytes were good.
    pub(super) place: usize,
}

const fn fault(code: &'static str, reason: &'static str) -> Fault {
    Fault { code, reason, place: 0 }
}

impl Fault {
    pub(super) const CHUNK_END: Fault = fault("HPE_STRICT", "Expected LF after chunk data");
    pub(super) const CHUNK_EXTENSIONS: Fault = fault("HPE_CHUNK_EXTENSIONS_OVERFLOW", "Chunk extensions overflow");
    pub(super) const CHUNK_OVERFLOW: Fault = fault("HPE_INVALID_CHUNK_SIZE", "Chunk size overflow");
    pub(super) const CHUNK_SIZE: Fault = fault("HPE_INVALID_CHUNK_SIZE", "Invalid character in chunk size");
    pub(super) const CODINGS_ORDER: Fault =
        fault("HPE_INVALID_TRANSFER_ENCODING", "Invalid `Transfer-Encoding` header value");
    pub(super) const CODINGS: Fault = fault("HPE_INVALID_TRANSFER_ENCODING", "Request has invalid `Transfer-Encoding`");
    pub(super) const CODINGS_WITH_LENGTH: Fault =
        fault("HPE_UNEXPECTED_CONTENT_LENGTH", "Content-Length can't be present with Transfer-Encoding");
    pub(super) const CR_EXPECTED: Fault = fault("HPE_CR_EXPECTED", "Missing expected CR after header value");
    pub(super) const EOF: Fault = fault("HPE_INVALID_EOF_STATE", "Invalid EOF state");
    pub(super) const EXPECTED_HTTP: Fault = fault("HPE_INVALID_CONSTANT", "Expected HTTP/");
    pub(super) const HEADER_OVERFLOW: Fault = fault("HPE_HEADER_OVERFLOW", "Header overflow");
    pub(super) const HEADER_TOKEN: Fault = fault("HPE_INVALID_HEADER_TOKEN", "Invalid header value char");
    pub(super) const LENGTH: Fault = fault("HPE_INVALID_CONTENT_LENGTH", "Invalid character in Content-Length");
    pub(super) const LENGTH_OVERFLOW: Fault = fault("HPE_INVALID_CONTENT_LENGTH", "Content-Length overflow");
    pub(super) const LENGTH_WITH_CODINGS: Fault = Fault::CODINGS_WITH_LENGTH;
    pub(super) const LF_EXPECTED: Fault = fault("HPE_LF_EXPECTED", "Missing expected LF after header value");
    pub(super) const METHOD: Fault = fault("HPE_INVALID_METHOD", "Invalid method encountered");
    pub(super) const SECOND_LENGTH: Fault = fault("HPE_UNEXPECTED_CONTENT_LENGTH", "Content-Length already present");
    pub(super) const STATUS: Fault = fault("HPE_INVALID_STATUS", "Invalid status code");
    pub(super) const URL: Fault = fault("HPE_INVALID_URL", "Invalid characters in url");
    pub(super) const URL_SCHEMA: Fault = fault("HPE_INVALID_URL", "Unexpected char in url schema");
    pub(super) const URL_SERVER: Fault = fault("HPE_INVALID_URL", "Unexpected char in url server");
    pub(super) const URL_START: Fault = fault("HPE_INVALID_URL", "Unexpected start char in url");
    pub(super) const VERSION: Fault = fault("HPE_INVALID_VERSION", "Invalid HTTP version");

    pub(super) const fn at(self, place: usize) -> Fault {
        Fault { place, ..self }
    }
}
