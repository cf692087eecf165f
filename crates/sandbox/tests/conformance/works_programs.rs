//! Programs that must work: shells, languages, compilers, and what they are used with every day.

use crate::table::Row;

const COMPILE: &str = r#"
cat > /tmp/hello.c <<'END'
#include <math.h>
#include <pthread.h>
#include <stdio.h>
static void *half(void *number) { *(double *)number /= 2; return 0; }
int main(void) {
    double number = sqrt(7056);
    pthread_t thread;
    pthread_create(&thread, 0, half, &number);
    pthread_join(thread, 0);
    printf("%g\n", number);
}
END
gcc -O1 -pthread -o /tmp/hello /tmp/hello.c -lm && /tmp/hello"#;

const SQLITE: &str = "
import sqlite3
c = sqlite3.connect('/tmp/base.db')
c.execute('pragma journal_mode = wal')
c.execute('create table t (a integer primary key, b text)')
c.executemany('insert into t (b) values (?)', [(str(i),) for i in range(1000)])
c.commit()
print(c.execute('select count(*), max(b) from t').fetchone())";

const THREADS: &str = "
import threading, queue
q = queue.Queue()
ts = [threading.Thread(target=lambda n=n: q.put(n * n)) for n in range(20)]
[t.start() for t in ts]; [t.join() for t in ts]
print(sum(q.get() for _ in ts))";

const PROCESSES: &str = "
import multiprocessing as m
def square(n): return n * n
if __name__ == '__main__':
    m.set_start_method('fork')
    with m.Pool(3) as pool: print(sum(pool.map(square, range(10))))";

const ASYNC: &str = "
import asyncio
async def answer(reader, writer):
    writer.write((await reader.readline()).upper()); await writer.drain(); writer.close()
async def main():
    server = await asyncio.start_server(answer, '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b'hello\\n')
    print((await reader.read()).decode().strip())
    process = await asyncio.create_subprocess_exec('echo', 'child', stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0].decode().strip())
asyncio.run(main())";

const TEMPORARY: &str = "
import tempfile, os
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, 'f'); open(p, 'w').write('x' * 10)
    print(os.path.getsize(p))
with tempfile.TemporaryFile() as f: f.write(b'abc'); print(f.tell())";

const UNICODE: &str = "
import os
names = ['grün', '東京', 'naïve café', '🎈', 'a\\u0301']
for name in names: open('/tmp/' + name, 'w').write(name)
print(sorted(names) == sorted(os.listdir('/tmp')), open('/tmp/東京').read())";

const GIT: &str = "cd /tmp && git init -q r && cd r && git config user.email a@b && git config user.name n && \
    echo text > file && git add file && git commit -qm first && git log --format=%s && git status --short";

pub const ROWS: &[Row] = &[
    Row::shell("works.pipe", "joins programs by pipes", "seq 1000 | grep 7 | sort -rn | head -1").says(&["997"]),
    Row::shell(
        "works.shell",
        "uses what shells have",
        "a=(x y z); cat <<< \"${a[-1]}$(cat <(echo 1) <(echo 2) | tr -d '\\n')\"",
    )
    .says(&["z12"]),
    Row::shell("works.background", "starts programs beside it and waits", "(sleep 0.05; exit 3) & wait $!; echo $?")
        .says(&["3"]),
    Row::shell(
        "works.sh",
        "is a script with its interpreter",
        "printf '#!/bin/sh\\necho ran \"$1\"\\n' > s; chmod +x s; ./s one",
    )
    .says(&["ran one"]),
    Row::shell(
        "works.text",
        "works on text",
        "printf 'b 2\\na 1\\n' | sort | awk '{ n += $2 } END { print n, NR }' | sed 's/ /-/'",
    )
    .says(&["3-2"]),
    Row::shell(
        "works.archive",
        "packs and unpacks",
        "mkdir d; echo x > d/f; tar czf a.tgz d; rm -r d; tar xzf a.tgz; cat d/f",
    )
    .says(&["x"])
    .needing(&["bash", "tar", "gzip"]),
    Row::shell("works.find", "looks for files", "find /usr/bin -name env -type f | head -1").says(&["/usr/bin/env"]),
    Row::shell("works.git", "keeps a history", GIT).says(&["first"]).needing(&["bash", "git"]),
    Row::shell("works.c_compiler", "compiles and runs C", COMPILE).says(&["42"]).needing(&["bash", "gcc"]),
    Row::shell("works.make", "builds with make", "printf 'all:\\n\\t@echo made\\n' > Makefile; make -s")
        .says(&["made"])
        .needing(&["bash", "make"]),
    Row::shell("works.perl", "runs perl", "perl -MList::Util=sum -e 'print sum(1..10), \"\\n\"'")
        .says(&["55"])
        .needing(&["bash", "perl"]),
    Row::shell("works.node", "runs node", "node -e 'setTimeout(() => console.log([1,2,3].map(x => x * x).join()), 5)'")
        .says(&["1,4,9"])
        .needing(&["bash", "node"]),
    Row::shell("works.lua", "runs lua", "lua5.4 -e 'print(string.rep(\"ab\", 2), 7 // 2)'")
        .says(&["abab\t3"])
        .needing(&["bash", "lua5.4"]),
    Row::python(
        "works.python",
        "runs Python with its library",
        "import json, math, re, decimal, hashlib, random, datetime\n\
        print(json.dumps([math.comb(5, 2), re.sub('a', 'b', 'aa'), hashlib.sha256(b'').hexdigest()[:8]]))",
    )
    .says(&["[10, \"bb\", \"e3b0c442\"]"]),
    Row::python("works.sqlite", "keeps a database", SQLITE).says(&["(1000, '999')"]),
    Row::python("works.threads", "has threads", THREADS).says(&["2470"]),
    Row::python("works.processes", "has processes that share semaphores", PROCESSES).says(&["285"]),
    Row::python(
        "works.subprocess",
        "starts programs",
        "import subprocess\n\
        print(subprocess.run(['sh', '-c', 'read x; echo $x; exit 4'], input='in', text=True, capture_output=True))",
    )
    .says(&["CompletedProcess(args=['sh', '-c', 'read x; echo $x; exit 4'], returncode=4, stdout='in\\n', stderr='')"]),
    Row::python("works.async", "serves and calls on its loopback, and starts programs", ASYNC).says(&["HELLO\nchild"]),
    Row::python("works.temporary", "makes temporary files", TEMPORARY).says(&["10\n3"]),
    Row::python("works.unicode", "has names in any language", UNICODE).says(&["True 東京"]),
    Row::python(
        "works.decode_locale",
        "has the locale that it was given",
        "import locale, sys\n\
        locale.setlocale(locale.LC_ALL, '')\nprint(sys.getfilesystemencoding(), locale.getlocale()[1])",
    )
    .says(&["utf-8 UTF-8"]),
    Row::shell("works.locales", "sorts and changes letters by a locale", "echo ÄÖ | LC_ALL=C.UTF-8 sed 's/.*/\\L&/'")
        .says(&["äö"]),
    Row::shell("works.time_zones", "knows time zones", "TZ=Asia/Tokyo date -d @0 +%H:%M%z").says(&["09:00+0900"]),
];
