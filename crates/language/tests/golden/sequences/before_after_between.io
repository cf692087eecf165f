# beforeSeq, afterSeq, betweenSeq and what they give when the text is missing.
s := "key=value;rest"
s beforeSeq("=") println
s afterSeq("=") println
s betweenSeq("=", ";") println
s beforeSeq("#") println
s afterSeq("#") println
s between("=", ";") println
s betweenSeq("#", ";") println
