# Item types and encodings of text.
"abc" itemType println
"abc" encoding println
"abc" itemSize println
"héllo" size println
"héllo" itemType println
"héllo" asUTF8 size println
"héllo" asUTF8 itemType println
"héllo" println
"abc" asUCS2 itemType println
"abc" asUCS2 sizeInBytes println
"日本" asUTF8 sizeInBytes println
"日本" println
