//! Item types, encodings, bits and packed data. Expected texts are what the reference implementation answers, apart from its
//! prefix "Io Assertion" and where it is plainly wrong.

mod evaluate;

use evaluate::check;

#[test]
fn reads_items_bytes_and_encodings() {
    check(&[
        (r#""abc" asBase64"#, "YWJj\n"),
        (r#""YWJj" fromBase64"#, "abc"),
        (r#""abcdefghijklmnop" asBase64(8)"#, "YWJjZGVm\nZ2hpamts\nbW5vcA==\n"),
        (r#""a b&c/é" urlEncoded"#, "a+b%26c%2F%C3%A9"),
        (r#""a+b%20c" urlDecoded"#, "a b c"),
        (r#""a b" percentEncoded"#, "a%20b"),
        (r#""a%20b+" percentDecoded"#, "a b+"),
        (r#""abc" itemType"#, "uint8"),
        (r#""abc" encoding"#, "ascii"),
        (r#""abc" asUCS2 itemType"#, "uint16"),
        (r#""abc" asUCS4 encoding"#, "ucs4"),
        (r#""abc" asUTF8 encoding"#, "utf8"),
        (r#""héllo" itemType"#, "uint16"),
        (r#""héllo" asUTF8 size"#, "6"),
        (r#""abc" asMutable setItemType("foo")"#, "! invalid item type name"),
        (r#""abc" asMutable setEncoding("foo")"#, "! invalid encoding name"),
        (r#""abc" setEncoding("foo")"#, "! 'setEncoding' cannot be called on an immutable Sequence"),
        (r#""abc" asMutable setItemType("uint16") size"#, "2"),
        (r#""abcd" asMutable setEncoding("ucs2") size"#, "2"),
        (r#""abc" asMutable convertToItemType("float32") itemSize"#, "4"),
        (r#""abc" asMutable convertToItemType("float32") sum"#, "294"),
        (r#""ab" asBinaryUnsignedInteger"#, "25185"),
        (
            r#""abc" asBinaryUnsignedInteger"#,
            "! Sequence is 3 bytes but only conversion of 1, 2, or 4 bytes is supported",
        ),
        (r#""abcdefgh" asBinaryNumber"#, "8.540883e+194"),
        (r#""ab" asBinaryNumber"#, "! requested first 8 bytes, but Sequence only contains 2 bytes"),
        (r#""abc" bitAt(0)"#, "1"),
        (r#""abc" byteAt(1)"#, "98"),
        (r#""abc" bitCount"#, "10"),
        (r#""abc" asMutable bitwiseOr("   ")"#, "abc"),
        (r#""abc" asMutable bitwiseAnd("   ") size"#, "3"),
        (r#""abc" bitwiseAnd("   ")"#, "! 'bitwiseAnd' cannot be called on an immutable Sequence"),
        (r#""abc" asMutable bitwiseXor(1)"#, "! argument 1 of 'Sequence bitwiseXor' must be a Sequence, not a Number"),
        (r#"Sequence pack("I", 258) size"#, "4"),
        (r#"Sequence pack("IC5s", 100, "a", "hello") unpack("IC5s") at(2)"#, "hello"),
        (r#"Sequence pack("I", "x")"#, r#"! pack format "I" needs a Number"#),
        (r#""hello" unpack("5c") size"#, "5"),
        (
            r#"Sequence withStruct(list("float32", 1.5, "int8", 3)) asStruct(list("float32", "x", "int8", "y")) x"#,
            "1.5",
        ),
        (r#"Sequence withStruct(list("float32")) "#, "! members list must be even number"),
        (r#""日本" asUTF8 size"#, "6"),
    ]);
}
