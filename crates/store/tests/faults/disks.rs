//! disks
