//! The Io language: parser, message trees and a stackless virtual machine with fuel.
//! Pure: it can touch nothing of the host but what the embedder hands in.

pub mod syntax;
