//! One object at rest as bytes: the creation that would make it as it is now, behind a checksum that its id enters. A value
//! that lies under another object's key, or that changed on the disk, is recognised when it is read.
//!
//! | bytes | |
//! |---|---|
//! | 8 | checksum, least byte first: XXH3 with 64 bits over all that follows, seeded by the id |
//! | 1 | form; 1: one whole creation. Others are for objects in pieces, and refused by this version |
//! | … | the creation, as in a batch whose only object this is |

use super::creation::{Creation, Resting};
use super::datum::Text;
use super::decode::Decoder;
use super::encode::Encoder;
use super::error::ChangeError;
use super::id::ObjectId;
use super::outline::Outline;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const CHECKSUM_BYTES: usize = 8;
const WHOLE: u8 = 1;

/// Writes the object in place of whatever the buffer holds.
pub fn encode_stored(object: ObjectId, creation: &Creation, buffer: &mut Vec<u8>) -> Result<(), ChangeError> {
    let mut bytes = std::mem::take(buffer);
    bytes.clear();
    bytes.extend([0; CHECKSUM_BYTES]);
    bytes.push(WHOLE);
    *buffer = Encoder::alone(object, creation, bytes).map_err(|what| ChangeError::Unstorable(object, what))?;
    let checksum = checksum(object, &buffer[CHECKSUM_BYTES..]);
    buffer[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

/// The object, if the bytes are those that were written for it.
pub fn decode_stored(object: ObjectId, bytes: &[u8]) -> Result<Creation, ChangeError> {
    Decoder::<Text>::alone(object, checked(object, bytes)?)
}

/// The same for whoever only looks at it: its texts are those of the bytes.
pub fn borrow_stored(object: ObjectId, bytes: &[u8]) -> Result<Resting<'_>, ChangeError> {
    Decoder::resting(object, checked(object, bytes)?)
}

/// What operations fit the object. The elements are not looked at, nor is the checksum: whoever reads the object does.
pub fn outline_stored(object: ObjectId, bytes: &[u8]) -> Result<Outline, ChangeError> {
    match bytes.get(CHECKSUM_BYTES..).and_then(<[u8]>::split_first) {
        Some((&WHOLE, creation)) => Decoder::outline(object, creation),
        Some((form, _)) => Err(ChangeError::Version(*form)),
        None => Err(ChangeError::Truncated(bytes.len())),
    }
}

/// What stands behind checksum and form.
fn checked(object: ObjectId, bytes: &[u8]) -> Result<&[u8], ChangeError> {
    let (expected, content) = bytes.split_first_chunk().ok_or(ChangeError::Truncated(bytes.len()))?;
    if checksum(object, content) != u64::from_le_bytes(*expected) {
        return Err(ChangeError::Checksum(object));
    }
    match content.split_first() {
        Some((&WHOLE, creation)) => Ok(creation),
        Some((form, _)) => Err(ChangeError::Version(*form)),
        None => Err(ChangeError::Truncated(bytes.len())),
    }
}

fn checksum(object: ObjectId, content: &[u8]) -> u64 {
    let id = u128::from_be_bytes(object.to_bytes());
    // Odd, so that no two numbers of one actor, nor two actors of one number, share a seed.
    let seed = ((id >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ id as u64;
    xxh3_64_with_seed(content, seed)
}
