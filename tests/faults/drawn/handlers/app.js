// SPDX-License-Identifier: MIT
// Node.js before PostgreSQL: app.js PORT DATABASE:PORT POOL. Each request is a query over one of POOL connections. Variables: QUERY with
// %d for the key, HANDLER_MS, KEYS.
const http = require('http'), net = require('net');
const [port, database, pool] = process.argv.slice(2), [address, at] = database.split(':');
const idle = [], waiting = [];
let n = 0;

function connect() {
    const link = net.connect(Number(at), address), text = Buffer.from('user\0postgres\0database\0postgres\0\0');
    let data = Buffer.alloc(0), head = Buffer.alloc(8);
    head.writeInt32BE(text.length + 8, 0);
    head.writeInt32BE(196608, 4);
    link.setNoDelay(true);
    link.write(Buffer.concat([head, text]));
    link.on('data', more => {
        data = Buffer.concat([data, more]);
        while (data.length >= 5 && data.length >= 1 + data.readInt32BE(1)) {
            const kind = String.fromCharCode(data[0]);
            data = data.subarray(1 + data.readInt32BE(1));
            if (kind === 'E')
                link.failed = true;
            if (kind === 'Z') {
                if (link.done)
                    link.done(!link.failed);
                link.done = null;
                link.failed = false;
                give(link);
            }
        }
    });
}

function give(link) {
    if (waiting.length)
        waiting.shift()(link);
    else
        idle.push(link);
}

function query(text, done) {
    const go = link => {
        const words = Buffer.from(text + '\0'), head = Buffer.alloc(5);
        link.done = done;
        head.write('Q');
        head.writeInt32BE(words.length + 4, 1);
        link.write(Buffer.concat([head, words]));
    };
    if (idle.length)
        go(idle.pop());
    else
        waiting.push(go);
}

function compute(ms) {
    const begin = process.cpuUsage();
    for (;;) {
        const used = process.cpuUsage(begin);
        if ((used.user + used.system) / 1000 >= ms)
            return;
    }
}

for (let i = 0; i < Number(pool); i++)
    connect();
http.createServer((request, response) => {
    compute(Number(process.env.HANDLER_MS || 0));
    query(process.env.QUERY.replaceAll('%d', n++ % Number(process.env.KEYS || 1000)), good => {
        response.writeHead(good ? 200 : 500);
        response.end(JSON.stringify({done: good, text: 'x'.repeat(30000)}));
    });
}).listen(Number(port), '0.0.0.0', 500);
