//! A trace as a page.
