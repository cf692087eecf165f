//! What tests of every crate share: seeded generators and golden files. A dev-dependency only.
