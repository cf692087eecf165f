# break and continue inside try end only the try's body.
seen := List clone
for(i, 1, 3, try(if(i == 2, continue)); seen append(i))
seen println
for(i, 1, 3, e := try(Exception raise("no " .. i)); if(e, seen append(e error)))
seen println
