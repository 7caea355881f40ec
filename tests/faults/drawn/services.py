# SPDX-License-Identifier: MIT
"""Services of the distribution that a draw may choose. Each says its packages, how its server is started in the foreground on vm2,
what its load on vm1 asks, and how the faults of its own code are planted. A server's files are made in the folder of its run;
nothing under /etc is changed, and no service of the system is started."""
import glob
import os
import shlex
import shutil
import subprocess

import made_inputs
from drawn import load

HERE = os.path.dirname(os.path.abspath(__file__))
HANDLERS = f"{HERE}/handlers"
PYTHON = "/usr/bin/python3"
PORT, DOWN_PORT, OTHER_PORT = 7500, 7501, 7502
AS_POSTGRES = "setpriv --reuid postgres --regid postgres --clear-groups"
# what a right verdict names where one key is hot: one that costs computing, one whose lock is waited for, one that is fetched for one request after the other
SINGLE = {"resource": ["cpu", "application"], "causes": ["contention", "compute-bound", "serial", "single-thread", "lock"]}
LOCKED = {"resource": ["application", "cpu"], "causes": None, "says": "lock"}
IN_TURN = {"resource": ["application"], "causes": ["lock", "pool", "sleep"]}


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def in_python(*words):
    return " ".join(map(str, (PYTHON, "-B", *words)))


def listens(port):
    """A test without a connection."""
    return f"$CHOKEPOINT_RSH vm2 \"cat /proc/net/tcp /proc/net/tcp6 | grep -q ':{port:04X} 0*:0000 0A'\""


class Service:
    """can: {fault of its own: what is at fault}; cannot: {fault: why not}; disk: "bytes" or "operations", if its server waits for one;
    natural: what limits it when nothing is wrong, besides cores that are busy"""
    name, packages, programs, kind = None, (), (), "http"
    clients, requests, disk, disk_mb, natural = 4, 4000, None, 256, {}
    can, cannot, hot_names = {}, {}, LOCKED
    backend = None # (NAP_MS, WORK_MS, BYTES) of a backend beside the server

    def missing(self):
        """Packages that are not installed."""
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *self.packages], capture_output=True, text=True)
        here = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
        return [name for name in self.packages if name not in here]

    def trouble(self):
        """Why it cannot be recorded here; None: it can."""
        missing = self.missing()
        return f"not installed: apt-get install --no-install-recommends {' '.join(missing)}" if missing else None

    def looks_up(self):
        return load.KINDS[self.kind].each

    def prepare(self, case):
        """Makes its files."""

    def finish(self, case):
        """Removes what a killed server would leave outside its folder."""

    def server(self, case):
        """Commands that are started together on vm2, each a program and its words."""
        raise NotImplementedError

    def variables(self, case):
        """Variables of the server."""
        return {}

    def load_variables(self, case):
        return {}

    def values(self, case):
        """Values of the load."""
        return {}

    def ready(self, case):
        """Tests of a shell on vm1."""
        return [f"(: >/dev/tcp/{case.server}/{PORT}) 2>/dev/null"]

    def load_words(self, case):
        values = dict(self.values(case))
        values.update({name: case.plants[name] for name in ("pause",) if name in case.plants}, **({"hot": 1} if "hot" in case.plants else {}))
        address = "vm2.slow.test" if "names" in case.plants else case.server
        count = max(self.clients, round(self.requests * case.scale))
        words = [PYTHON, "-B", f"{HERE}/load.py", self.kind, address, PORT, self.clients, count, *(f"{name}={value}" for name, value in values.items())]
        return [shlex.quote(str(word)) for word in words]

    def backend_part(self, case):
        nap, work, size = self.backend
        return in_python(f"{HERE}/beside.py", "backend", DOWN_PORT, nap + case.plants.get("downstream", 0), work + (0 if self.computes_itself else case.plants.get("handler", 0)), size)

    computes_itself = False # the handler is the server's own, not the backend's


class App(Service):
    """A server of programs: its handler computes, asks a downstream that answers after some milliseconds, and answers."""
    backend, computes_itself, base_ms, requests, clients = (4, 0, 3000), True, 1.5, 2400, 8
    can = {"pool": "one worker serves all requests", "downstream": "the downstream of its handler", "handler": "its handler", "hot": "one lock of all requests, held while the downstream is asked"}

    def variables(self, case):
        hot = {"HOT": f"{case.folder}/lock"} if "hot" in case.plants else {}
        return {"BASE_MS": self.base_ms, "HANDLER_MS": case.plants.get("handler", 0), "DOWN": f"127.0.0.1:{DOWN_PORT}", **hot}

    def workers(self, case):
        return 1 if "pool" in case.plants else 8

    def server(self, case):
        return [self.backend_part(case), self.main(case)]


# ---- caches and queues ----

class Memcached(Service):
    name, packages, kind, requests, clients = "memcached", ("memcached",), "memcached", 100000, 4
    can = {"hot": "all clients ask for one key"}
    cannot = {"pool": "its limit of connections is that of its open files, with which it does not start"}
    hot_names = SINGLE

    def server(self, case):
        return [f"memcached -u root -l 0.0.0.0 -p {PORT} -m 128 -t 2"]

    def values(self, case):
        return {"turn": 50}


class Mosquitto(Service):
    name, packages, kind, requests = "mosquitto", ("mosquitto",), "mqtt", 180000
    can = {"hot": "one topic, to which all clients listen"}
    cannot = {"pool": "it refuses connections above its limit"}
    hot_names = SINGLE

    def prepare(self, case):
        write(f"{case.folder}/mosquitto.conf", f"listener {PORT} 0.0.0.0\nallow_anonymous true\npersistence false\nuser root\nset_tcp_nodelay true\n")

    def server(self, case):
        return [f"mosquitto -c {case.folder}/mosquitto.conf"]


class Beanstalkd(Service):
    name, packages, kind, requests, disk = "beanstalkd", ("beanstalkd",), "beanstalk", 8300, "operations"
    can = {"hot": "one tube for all clients"}
    cannot = {"pool": "it has no limit of connections"}
    hot_names = SINGLE
    natural = {"vm2": ["disk", "disk-throttle"]} # each job is on disk before it is acknowledged

    def server(self, case):
        os.makedirs(f"{case.data}/log", exist_ok=True)
        return [f"beanstalkd -l 0.0.0.0 -p {PORT} -b {case.data}/log -f 0"]


class Gearman(App):
    name, packages, kind, requests = "gearman-job-server", ("gearman-job-server",), "gearman", 2600
    can = dict(App.can, pool="one worker takes all jobs")

    def server(self, case):
        worker = in_python(f"{HERE}/beside.py", "worker", PORT)
        return [self.backend_part(case), f"gearmand -L 0.0.0.0 -p {PORT} -l stderr -u root", *[worker] * (1 if "pool" in case.plants else 4)]


class Zookeeper(Service):
    name, packages, kind, requests, disk = "zookeeperd", ("zookeeperd", "python3-kazoo"), "zookeeper", 1700, "operations"
    can = {"hot": "all clients set one node"}
    cannot = {"pool": "it refuses connections above its limit"}
    hot_names = SINGLE
    natural = {"vm2": ["disk", "disk-throttle"]} # each change is on disk before it is acknowledged

    def prepare(self, case):
        os.makedirs(f"{case.data}/data", exist_ok=True)
        write(f"{case.folder}/zoo.cfg", f"tickTime=2000\ndataDir={case.data}/data\nclientPort={PORT}\nadmin.enableServer=false\nmaxClientCnxns=100\n")

    def server(self, case):
        return [f"java -Xmx128m -XX:+UseSerialGC -cp /usr/share/java/zookeeper.jar org.apache.zookeeper.server.quorum.QuorumPeerMain {case.folder}/zoo.cfg"]


# ---- between clients and servers ----

class Haproxy(Service):
    name, packages, requests, backend, clients = "haproxy", ("haproxy",), 20000, (2, 0, 6000), 12
    can = {"pool": "one connection to each server behind it (maxconn)", "downstream": "the server behind it", "handler": "the server behind it"}
    cannot = {"hot": "its servers share a core, so one of them alone is no slower"}

    def prepare(self, case):
        limit = " maxconn 1" if "pool" in case.plants else ""
        write(f"{case.folder}/haproxy.cfg", f"""global
    nbthread 1
defaults
    mode http
    timeout connect 30s
    timeout client 30s
    timeout server 30s
    timeout queue 30s
    option httpclose
listen front
    bind 0.0.0.0:{PORT}
    filter compression
    compression algo gzip
    server one 127.0.0.1:{DOWN_PORT}{limit}
""")

    def server(self, case):
        return [self.backend_part(case), f"haproxy -db -f {case.folder}/haproxy.cfg"]


class Varnish(Service):
    name, packages, requests, backend, clients = "varnish", ("varnish",), 10000, (3, 0, 6000), 12
    can = {"downstream": "the server behind it", "handler": "the server behind it", "hot": "one page that may not be kept, and is fetched for one request after the other"}
    cannot = {"pool": "it answers 503 above its limit of connections"}
    hot_names = IN_TURN

    def prepare(self, case):
        keep = "set beresp.ttl = 0s; set beresp.grace = 0s; set beresp.keep = 0s; return (deliver);" if "hot" in case.plants else "set beresp.ttl = 600s; return (deliver);"
        passed = "" if "hot" in case.plants else f'if (req.url ~ "[02468]$") {{ return (pass); }}'
        write(f"{case.folder}/drawn.vcl", f"""vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{DOWN_PORT}"; }}
sub vcl_recv {{ {passed} return (hash); }}
sub vcl_backend_response {{ {keep} }}
""")

    def server(self, case):
        os.makedirs(f"{case.folder}/varnish", exist_ok=True)
        return [self.backend_part(case), f"varnishd -j none -F -a 0.0.0.0:{PORT} -T none -f {case.folder}/drawn.vcl -s malloc,64m -n {case.folder}/varnish -p thread_pools=1"]

    def values(self, case):
        return {"path": "/%d", "keys": 200}


class Squid(Service):
    name, packages, requests, backend, clients = "squid", ("squid",), 7000, (3, 0, 6000), 12
    can = {"downstream": "the server behind it", "handler": "the server behind it"}
    cannot = {"pool": "it fails requests above its limit of connections", "hot": "its requests for one page do not wait for each other"}

    def prepare(self, case):
        write(f"{case.folder}/squid.conf", f"""http_port 0.0.0.0:{PORT} accel defaultsite=drawn no-vhost
cache_peer 127.0.0.1 parent {DOWN_PORT} 0 no-query no-digest originserver name=back
http_access allow all
cache_peer_access back allow all
cache deny all
cache_mem 16 MB
access_log none
cache_log {case.folder}/cache.log
pid_filename none
coredump_dir {case.folder}
cache_effective_user proxy
shutdown_lifetime 0 seconds
pinger_enable off
retry_on_error on
server_persistent_connections off
netdb_filename none
max_filedescriptors 4096
""")

    def server(self, case):
        return [self.backend_part(case), f"squid -N -n drawn -f {case.folder}/squid.conf"]

    def finish(self, case):
        for path in glob.glob("/dev/shm/drawn-cf__*"):
            os.unlink(path)


class Pgbouncer(Service):
    name, packages, kind, requests, disk, disk_mb, clients = "pgbouncer", ("pgbouncer", "postgresql"), "postgres", 4500, "operations", 400, 6
    can = {"pool": "one connection to the database", "downstream": "the query", "hot": "all clients change one row"}
    cannot = {"handler": "a query cannot compute for a set time"}
    natural = {"vm2": ["disk", "disk-throttle"]} # each change is on disk before it is acknowledged

    def prepare(self, case):
        make_database(case)
        write(f"{case.folder}/users", '"postgres" ""\n')
        write(f"{case.folder}/pgbouncer.ini", f"""[databases]
postgres = host=127.0.0.1 port={DOWN_PORT} dbname=postgres
[pgbouncer]
listen_addr = 0.0.0.0
listen_port = {PORT}
auth_type = trust
auth_file = {case.folder}/users
pool_mode = transaction
default_pool_size = {1 if 'pool' in case.plants else 10}
unix_socket_dir =
""")

    def server(self, case):
        return [database_part(case, DOWN_PORT), f"{AS_POSTGRES} pgbouncer {case.folder}/pgbouncer.ini"]

    def ready(self, case):
        return [f"[ -S {case.folder}/sockets/.s.PGSQL.{DOWN_PORT} ]", *super().ready(case)]

    def values(self, case):
        return {"query": query_of(case)}


def query_of(case):
    """A change, a sum, and a wait for something outside, in one transaction."""
    nap_ms = 3 + case.plants.get("downstream", 0)
    return f"BEGIN; UPDATE accounts SET balance = balance + 1 WHERE id = %d; SELECT sum(balance) FROM accounts WHERE id < 600; SELECT repeat('x', 20000); SELECT pg_sleep({nap_ms / 1000:g}); COMMIT"


def database_programs():
    return sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]


def make_database(case):
    """PostgreSQL with one table of a thousand rows, in the folder of data."""
    os.makedirs(f"{case.folder}/sockets", exist_ok=True)
    os.makedirs(f"{case.data}/database", exist_ok=True)
    for path in (f"{case.folder}/sockets", f"{case.data}/database"):
        shutil.chown(path, "postgres", "postgres")
    programs, words, base = database_programs(), AS_POSTGRES.split(), f"{case.data}/database/base"
    subprocess.run([*words, f"{programs}/initdb", "-D", base, "-A", "trust", "-N"], check=True, capture_output=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
    with open(f"{base}/pg_hba.conf", "a") as file:
        file.write("host all all all trust\n")
    text = "CREATE TABLE accounts (id int PRIMARY KEY, balance bigint, filler text); INSERT INTO accounts SELECT i, 0, repeat('x', 80) FROM generate_series(0, 999) i;"
    subprocess.run([*words, f"{programs}/postgres", "--single", "-j", "-D", base, "postgres"], input=f"{text}\n\n", text=True, check=True, capture_output=True)


def database_part(case, port):
    return (f"{AS_POSTGRES} {database_programs()}/postgres -D {case.data}/database/base -p {port} -c listen_addresses='*' -c unix_socket_directories={case.folder}/sockets "
            f"-c shared_buffers=32MB -c autovacuum=off")


# ---- servers of files and names ----

class Apache(Service):
    name, packages, requests, backend, clients = "apache2", ("apache2",), 11000, (4, 0, 12000), 12
    can = {"pool": "one worker (MaxRequestWorkers)", "downstream": "the server behind it", "handler": "the server behind it"}
    cannot = {"hot": "its requests for one page do not wait for each other"}

    def prepare(self, case):
        os.makedirs(f"{case.folder}/pages", exist_ok=True)
        for i in range(50):
            write(f"{case.folder}/pages/{i}.txt", " ".join(str(i * j * j % 9973) for j in range(8000)))
        modules = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in ("mpm_prefork", "authz_core", "deflate", "filter", "proxy", "proxy_http", "mime"))
        workers = 1 if "pool" in case.plants else 10
        write(f"{case.folder}/apache.conf", f"""ServerRoot {case.folder}
{modules}
ServerName drawn
Listen 0.0.0.0:{PORT}
User www-data
Group www-data
PidFile {case.folder}/apache.pid
ErrorLog {case.folder}/apache.log
TypesConfig /dev/null
AddType text/plain .txt
DocumentRoot {case.folder}/pages
StartServers {workers}
MinSpareServers {workers}
MaxSpareServers {workers}
ServerLimit {workers}
MaxRequestWorkers {workers}
ListenBacklog 500
KeepAlive Off
AddOutputFilterByType DEFLATE text/plain
ProxyPass /back http://127.0.0.1:{DOWN_PORT}/
<Directory {case.folder}/pages>
Require all granted
</Directory>
""")

    def server(self, case):
        return [self.backend_part(case), f"/usr/sbin/apache2 -DFOREGROUND -d {case.folder} -f {case.folder}/apache.conf"]

    def values(self, case):
        return {"path": "/back/%d"}


class Bind(Service):
    name, packages, kind, requests, records = "bind9", ("bind9",), "dns", 2400, 1500
    can = {"pool": "one connection (tcp-clients)"}
    cannot = {"hot": "its answers do not wait for each other", "downstream": "it answers from its own zone"}

    def prepare(self, case):
        zone = "".join(f"h{i} A 10.{i >> 8 & 255}.{i & 255}.1\n" for i in range(self.records))
        write(f"{case.folder}/zone", f"$TTL 60\n@ SOA ns root 1 60 60 60 60\n@ NS ns\nns A 10.0.0.1\n{zone}")
        write(f"{case.folder}/named.conf", f"""options {{ directory "{case.folder}"; listen-on port {PORT} {{ any; }}; listen-on-v6 {{ none; }}; recursion no; allow-transfer {{ any; }};
    pid-file none; session-keyfile none; transfers-out 1000; tcp-clients {1 if 'pool' in case.plants else 150}; dnssec-validation no; managed-keys-directory "{case.folder}"; }};
controls {{ }};
logging {{ category default {{ null; }}; category xfer-out {{ null; }}; }};
zone "drawn.test" {{ type primary; file "zone"; notify no; }};
""")

    def server(self, case):
        return [f"named -f -n 2 -c {case.folder}/named.conf"]

    def values(self, case):
        return {"records": self.records + 4}


class Slapd(Service):
    name, packages, kind, requests, disk = "slapd", ("slapd",), "ldap", 8000, "operations"
    can = {"hot": "all clients change one entry"}
    cannot = {"pool": "it has two threads at least", "downstream": "it asks nobody"}
    hot_names = SINGLE
    natural = {"vm2": ["disk", "disk-throttle"]} # each change is on disk before it is acknowledged

    def prepare(self, case):
        os.makedirs(f"{case.data}/ldap", exist_ok=True)
        path = write(f"{case.folder}/slapd.conf", f"""include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {case.folder}/slapd.pid
database mdb
suffix "dc=drawn"
rootdn "cn=admin,dc=drawn"
rootpw secret
directory {case.data}/ldap
maxsize 67108864
""")
        entries = "dn: dc=drawn\nobjectClass: dcObject\nobjectClass: organization\no: drawn\ndc: drawn\n\n" + "".join(
            f"dn: cn=u{i},dc=drawn\nobjectClass: person\ncn: u{i}\nsn: u{i}\ndescription: e{i}\n\n" for i in range(1500))
        subprocess.run(["/usr/sbin/slapadd", "-q", "-f", path], input=entries, text=True, check=True, capture_output=True)

    def server(self, case):
        return [f"slapd -h ldap://0.0.0.0:{PORT} -f {case.folder}/slapd.conf -d 0"]


class Nginx(Service):
    """rsync brings a file to the server, where nginx serves it."""
    name, packages, kind, requests, clients, disk = "rsync+nginx", ("rsync", "nginx"), "command", 76, 2, "bytes"
    can = {"hot": "both clients bring one file"}
    cannot = {"pool": "rsync refuses connections above its limit"}
    hot_names = SINGLE

    def prepare(self, case):
        os.makedirs(f"{case.data}/files", exist_ok=True)
        made_inputs.text(f"{case.folder}/text", 4)
        write(f"{case.folder}/rsyncd.conf", f"port = {OTHER_PORT}\nuse chroot = no\nuid = root\ngid = root\n[files]\npath = {case.data}/files\nread only = no\n")
        os.makedirs(f"{case.folder}/nginx", exist_ok=True)
        places = " ".join(f"{name}_temp_path {case.folder}/nginx;" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        write(f"{case.folder}/nginx.conf", f"""user root; worker_processes 1; daemon off; pid {case.folder}/nginx.pid; error_log {case.folder}/nginx.log;
events {{ }}
http {{ access_log off; {places} directio 4k; gzip on; gzip_types *; gzip_comp_level 3; server {{ listen 0.0.0.0:{PORT}; root {case.data}/files; }} }}
""")

    def server(self, case):
        return [f"rsync --daemon --no-detach --config {case.folder}/rsyncd.conf", f"nginx -p {case.folder} -c {case.folder}/nginx.conf"]

    def ready(self, case):
        return [*super().ready(case), f"(: >/dev/tcp/{case.server}/{OTHER_PORT}) 2>/dev/null"]

    def values(self, case):
        target = "file-0" if "hot" in case.plants else "file-$CLIENT"
        fetch = f"import urllib.request as u; u.urlopen('http://{case.server}:{PORT}/'+'{target}'.replace('$CLIENT', '$CLIENT')).read()"
        return {"command": f'(echo $I $CLIENT; cat {case.folder}/text) >{case.folder}/own-$CLIENT; rsync -W --fsync --ignore-times {case.folder}/own-$CLIENT '
                           f'rsync://{case.server}:{OTHER_PORT}/files/{target} && {PYTHON} -S -c "{fetch}"'}


class Git(Service):
    name, packages, kind, requests, clients = "git-daemon-sysvinit", ("git-daemon-sysvinit", "git"), "command", 54, 3
    cannot = {"pool": "it hangs up on connections above its limit", "hot": "clones of one repository do not wait for each other"}

    def prepare(self, case):
        os.makedirs(f"{case.folder}/base/one", exist_ok=True)
        git = ["git", "-C", f"{case.folder}/base/one", "-c", "user.name=drawn", "-c", "user.email=drawn@localhost", "-c", "init.defaultBranch=main"]
        subprocess.run([*git, "init", "-q"], check=True)
        for i in range(12):
            for j in range(20):
                write(f"{case.folder}/base/one/f{i}-{j}.txt", "\n".join(str((i + 1) * (j + 3) * k * k % 99991) for k in range(1500)))
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-qm", f"change {i}"], check=True)

    def server(self, case):
        return [f"git daemon --reuseaddr --export-all --listen=0.0.0.0 --port={PORT} --base-path={case.folder}/base {case.folder}/base"]

    def variables(self, case):
        return {"GIT_CONFIG_COUNT": 2, "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*", "GIT_CONFIG_KEY_1": "pack.threads", "GIT_CONFIG_VALUE_1": "1", "HOME": case.folder}

    def values(self, case):
        return {"command": f"git clone -q --bare git://{case.server}:{PORT}/one {case.folder}/copy-$CLIENT && rm -r {case.folder}/copy-$CLIENT"}


# ---- talk ----

class Prosody(Service):
    name, packages, kind, requests, clients = "prosody", ("prosody",), "xmpp", 22000, 4
    cannot = {"pool": "it has no limit that lets clients wait", "hot": "its sessions do not wait for each other"}

    def prepare(self, case):
        os.makedirs(f"{case.folder}/prosody", exist_ok=True)
        write(f"{case.folder}/prosody.cfg.lua", f"""run_as_root = true
data_path = "{case.folder}/prosody"
pidfile = "{case.folder}/prosody.pid"
plugin_paths = {{ }}
modules_enabled = {{ "saslauth"; "disco"; }}
modules_disabled = {{ "s2s"; "s2s_auth_certs"; "limits"; }}
authentication = "anonymous"
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
c2s_interfaces = {{ "0.0.0.0" }}
c2s_ports = {{ {PORT} }}
log = {{ warn = "{case.folder}/prosody.log" }}
VirtualHost "drawn.test"
    authentication = "anonymous"
""")

    def server(self, case):
        return [f"prosody -F --root --config {case.folder}/prosody.cfg.lua"]


class Coturn(Service):
    name, packages, kind, requests, clients = "coturn", ("coturn",), "stun", 150000, 4
    cannot = {"pool": "its limits refuse", "hot": "its clients share nothing"}

    def server(self, case):
        return [f"turnserver -n -L {case.server} -p {PORT} --no-auth --no-tls --no-dtls --no-cli --log-file=stdout --simple-log --pidfile={case.folder}/turn.pid "
                f"--db={case.folder}/turn.db --relay-threads=1"]


# ---- servers of programs ----

class Php(App):
    name, packages, kind, requests = "php-fpm", ("php-fpm",), "fastcgi", 2800

    def prepare(self, case):
        shutil.copy(f"{HANDLERS}/app.php", case.folder)
        write(f"{case.folder}/fpm.conf", f"""[global]
error_log = {case.folder}/fpm.log
daemonize = no
[www]
user = root
group = root
listen = 0.0.0.0:{PORT}
listen.backlog = 500
pm = static
pm.max_children = {self.workers(case)}
clear_env = no
""")

    def main(self, case):
        return f"{sorted(self.fpms())[-1]} -F -R -n -y {case.folder}/fpm.conf"

    def fpms(self):
            return glob.glob("/usr/sbin/php-fpm[0-9]*") or ["php-fpm"]

    def values(self, case):
        return {"script": f"{case.folder}/app.php"}


class Uwsgi(App):
    name, packages, requests = "uwsgi", ("uwsgi", "uwsgi-plugin-python3"), 2600

    def main(self, case):
        return f"uwsgi --plugin python3 --http-socket 0.0.0.0:{PORT} --processes {self.workers(case)} --listen 100 --wsgi-file {HANDLERS}/app.py --pythonpath {HANDLERS} --disable-logging --die-on-term"


class Tomcat(App):
    name, packages, requests = "tomcat10", ("tomcat10", "default-jre-headless"), 2000

    def missing(self):
        return [name for name in super().missing() if name != "default-jre-headless" or not shutil.which("java")]

    def prepare(self, case):
        base = f"{case.folder}/tomcat"
        for name in ("conf", "webapps/ROOT", "logs", "temp", "work"):
            os.makedirs(f"{base}/{name}", exist_ok=True)
        shutil.copy(f"{HANDLERS}/app.jsp", f"{base}/webapps/ROOT")
        for name in ("web.xml", "catalina.properties"):
            shutil.copy(f"/usr/share/tomcat10/etc/{name}", f"{base}/conf")
        write(f"{base}/conf/server.xml", f"""<Server port="-1"><Service name="Catalina">
<Connector port="{PORT}" address="0.0.0.0" protocol="HTTP/1.1" maxThreads="{self.workers(case)}" minSpareThreads="1" acceptCount="500"/>
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine></Service></Server>
""")

    def main(self, case):
        home = "/usr/share/tomcat10"
        return (f"java -Xmx160m -XX:+UseSerialGC -Dcatalina.home={home} -Dcatalina.base={case.folder}/tomcat -Djava.io.tmpdir={case.folder}/tomcat/temp "
                f"-cp {home}/bin/bootstrap.jar:{home}/bin/tomcat-juli.jar org.apache.catalina.startup.Bootstrap start")

    def ready(self, case):
        return [*super().ready(case), f"{PYTHON} {HERE}/load.py http {case.server} {PORT} 1 1 path=/app.jsp >/dev/null 2>&1"] # the first request compiles the page

    def values(self, case):
        return {"path": "/app.jsp"}


class Java(App):
    name, packages, requests = "openjdk-17-jdk-headless", ("openjdk-17-jdk-headless",), 2400

    def prepare(self, case):
        subprocess.run(["javac", "-d", case.folder, f"{HANDLERS}/App.java"], check=True)

    def main(self, case):
        return f"java -Xmx128m -XX:+UseSerialGC -cp {case.folder} App {PORT} {self.workers(case)}"


class Node(Service):
    name, packages, requests, disk, disk_mb, clients = "nodejs+postgresql", ("nodejs", "postgresql"), 4500, "operations", 400, 6
    can = {"pool": "one connection to the database", "downstream": "the query", "hot": "all requests change one row", "handler": "its handler"}
    natural = {"vm2": ["disk", "disk-throttle"]} # each change is on disk before it is acknowledged

    def prepare(self, case):
        make_database(case)

    def variables(self, case):
        return {"QUERY": query_of(case), "HANDLER_MS": case.plants.get("handler", 0), "KEYS": 1 if "hot" in case.plants else 1000}

    def server(self, case):
        wait = f"until [ -S {case.folder}/sockets/.s.PGSQL.{DOWN_PORT} ]; do sleep .05; done; sleep .3"
        return [database_part(case, DOWN_PORT), f"bash -c '{wait}; exec node {HANDLERS}/app.js {PORT} 127.0.0.1:{DOWN_PORT} {1 if 'pool' in case.plants else 10}'"]


class Go(Service):
    name, packages, requests, disk = "golang-go+redis-server", ("golang-go", "redis-server"), 7000, "operations"
    backend, computes_itself, clients = (4, 0, 3000), True, 8
    can = {"pool": "one connection to Redis", "downstream": "the downstream of its handler", "hot": "one lock around all questions to Redis", "handler": "its handler"}
    natural = {"vm2": ["disk", "disk-throttle"]} # each change is on disk before it is acknowledged

    def program(self, case):
        """Built once for a version of its source."""
        return os.path.join(os.path.dirname(case.folder), f"go-app-{os.path.getmtime(f'{HANDLERS}/app.go'):.0f}")

    def prepare(self, case):
        path = self.program(case)
        if not os.path.exists(path):
            subprocess.run(["go", "build", "-o", path, f"{HANDLERS}/app.go"], check=True, env=dict(os.environ, GOCACHE=f"{os.path.dirname(path)}/go-cache", GO111MODULE="off", HOME=case.folder))
        os.makedirs(f"{case.data}/redis", exist_ok=True)

    def variables(self, case):
        return {"HANDLER_MS": case.plants.get("handler", 0), "DOWN": f"127.0.0.1:{DOWN_PORT}", **({"HOT": 1} if "hot" in case.plants else {})}

    def server(self, case):
        return [self.backend_part(case), f"redis-server --port {OTHER_PORT} --dir {case.data}/redis --appendonly yes --appendfsync always --save '' --daemonize no --auto-aof-rewrite-percentage 0",
                f"{self.program(case)} {PORT} 127.0.0.1:{OTHER_PORT} {1 if 'pool' in case.plants else 8}"]


class CeleryRabbit(App):
    name, packages, kind, requests, base_ms = "python3-celery+rabbitmq-server", ("python3-celery", "rabbitmq-server"), "celery", 420, 2
    can = dict(App.can, pool="one process takes all tasks")

    def variables(self, case):
        return {**super().variables(case), "BROKER": f"amqp://guest:guest@{case.server}:{PORT}//", "PYTHONPATH": HANDLERS, "HOME": case.folder,
                "RABBITMQ_NODE_PORT": PORT, "RABBITMQ_NODENAME": "drawn@localhost", "RABBITMQ_MNESIA_BASE": f"{case.folder}/rabbit", "RABBITMQ_LOG_BASE": f"{case.folder}/rabbit-log",
                "RABBITMQ_ENABLED_PLUGINS_FILE": f"{case.folder}/plugins", "RABBITMQ_CONFIG_FILE": f"{case.folder}/rabbitmq", "RABBITMQ_PID_FILE": f"{case.folder}/rabbit.pid",
                "RABBITMQ_CONF_ENV_FILE": "/dev/null", "PYTHONDONTWRITEBYTECODE": 1}

    def load_variables(self, case):
        return {"BROKER": f"amqp://guest:guest@{case.server}:{PORT}//", "PYTHONDONTWRITEBYTECODE": 1, "HOME": case.folder}

    def prepare(self, case):
        write(f"{case.folder}/plugins", "[].\n")
        write(f"{case.folder}/rabbitmq.conf", "loopback_users = none\n")

    def main(self, case):
        workers = 1 if "pool" in case.plants else 4
        wait = f"until (: >/dev/tcp/{case.server}/{PORT}) 2>/dev/null; do sleep .1; done"
        return f"bash -c '{wait}; exec {PYTHON} -m celery -A tasks worker --concurrency {workers} -P prefork -l ERROR -n w@vm2 --without-gossip --without-mingle --without-heartbeat'"

    def server(self, case):
        return ["/usr/lib/rabbitmq/bin/rabbitmq-server", *super().server(case)]


class Forest(App):
    name, packages, requests, base_ms = "python3-sklearn", ("python3-sklearn",), 2200, 0
    can = dict(App.can, pool="one replica of the model")

    def variables(self, case):
        return {**super().variables(case), "REPLICAS": self.workers(case)}

    def main(self, case):
        return in_python(f"{HANDLERS}/forest.py", PORT)

    def values(self, case):
        return {"body": 16000}


# ---- computing elsewhere ----

class Ffmpeg(Service):
    name, packages, kind, requests, clients = "ffmpeg", ("ffmpeg",), "frames", 600, 1
    cannot = {"pool": "it takes one stream", "hot": "it has one stream", "downstream": "it asks nobody", "handler": "it runs no code of ours"}

    def server(self, case):
        return [f"ffmpeg -nostdin -loglevel error -f rawvideo -pix_fmt yuv420p -video_size 640x360 -i tcp://0.0.0.0:{PORT}?listen=1 -c:v libx264 -preset medium -threads 1 -f null -"]

    def ready(self, case):
        return [listens(PORT)] # a connection would be the stream


class Povray(Service):
    """Each picture is computed half on vm1 and half on vm2; the next one begins when both halves are there."""
    name, packages, kind, requests, clients = "povray", ("povray",), "command", 8, 1
    cannot = {"pool": "it has no such limit", "hot": "its halves share nothing", "downstream": "it asks nobody", "handler": "it runs no code of ours"}

    def prepare(self, case):
        balls = "\n".join(f"sphere {{ <{i % 7 - 3}, {i // 7 - 2}, {i % 3}>, .45 pigment {{ color rgb <{i % 5 / 5}, .5, {i % 3 / 3}> }} finish {{ reflection .3 }} }}" for i in range(35))
        write(f"{case.folder}/scene.pov", f"#version 3.7;\nglobal_settings {{ assumed_gamma 1 }}\ncamera {{ location <0, 0, -8 + clock> look_at 0 }}\nlight_source {{ <4, 6, -8> rgb 1 }}\n{balls}\n")

    def server(self, case):
        return ["sleep 1000"]

    def ready(self, case):
        return []

    def values(self, case):
        half = lambda host, first, last: (f"povray +I{case.folder}/scene.pov +O{case.folder}/{host}.png +W800 +H600 +SR{first} +ER{last} -D +WT1 +A0.1 +K0.$I -GA")
        return {"command": f"$CHOKEPOINT_RSH vm2 \"export CHOKEPOINT_RUN=$CHOKEPOINT_RUN HOME={case.folder}; exec {half('vm2', 301, 600)}\" >/dev/null 2>&1 & "
                           f"HOME={case.folder} {half('vm1', 1, 300)} >/dev/null 2>&1 && wait $!"}


class Icecc(Service):
    """A compile farm: the scheduler and one daemon on vm2, the compiler's caller and a daemon that computes nothing on vm1."""
    name, packages, kind, requests, clients = "icecc", ("icecc", "g++"), "command", 15, 3
    can = {"pool": "the daemon takes one job at a time (-m 1)"}
    cannot = {"hot": "its jobs share nothing", "downstream": "it asks nobody", "handler": "it runs no code of ours"}

    def prepare(self, case):
        made_inputs.sources(case.folder, 6)
        shared = os.path.join(os.path.dirname(case.folder), "icecc-environment")
        if not glob.glob(f"{shared}/*.tar.gz"):
            os.makedirs(shared, exist_ok=True)
            subprocess.run(["icecc", "--build-native", "g++"], cwd=shared, check=True, capture_output=True)
        for host in ("vm1", "vm2"):
            os.makedirs(f"{case.folder}/daemon-{host}", exist_ok=True)
            shutil.chown(f"{case.folder}/daemon-{host}", "icecc", "icecc")

    def daemon(self, case, host, *words):
        return f"/usr/sbin/iceccd -s {case.server}:{OTHER_PORT} -n drawn -N {host} -b {case.folder}/daemon-{host} -vvv -l {case.folder}/log-{host} {' '.join(words)}"

    def server(self, case):
        return [f"/usr/sbin/icecc-scheduler -n drawn -p {OTHER_PORT}", self.daemon(case, "vm2", "-m", "1" if "pool" in case.plants else "3")]

    def ready(self, case):
        return [listens(OTHER_PORT), listens(10245), f"grep -q 'Connected to scheduler' {case.folder}/log-vm2"] # the scheduler would wait for what a connection says

    def load_variables(self, case):
        environment = glob.glob(os.path.join(os.path.dirname(case.folder), "icecc-environment", "*.tar.gz"))[0]
        return {"ICECC_VERSION": environment, "ICECC_PREFERRED_HOST": "vm2", "ICECC_TEST_SOCKET": f"{case.folder}/socket", "DAEMON": self.daemon(case, "vm1", "-m", "0")}

    def values(self, case):
        return {"command": f"icecc g++ -O1 -c {case.folder}/part$((I % 6)).cpp -o {case.folder}/out-$CLIENT.o"}

    def load_words(self, case):
        write(f"{case.folder}/farm.sh", "#!/bin/bash\n$DAEMON >/dev/null 2>&1 &\nuntil grep -q 'Connected to scheduler' log-vm1; do sleep .1; done\n"
              f"icecc g++ -c {case.folder}/part0.cpp -o {case.folder}/first.o # brings the compiler to the far daemon\n\"$@\"\nstatus=$?\nkill $!\nwait\nexit $status\n")
        return ["bash", f"{case.folder}/farm.sh", *super().load_words(case)]


class Nfs(Service):
    name, packages = "nfs-kernel-server", ("nfs-kernel-server",)

    def trouble(self):
        with open("/proc/filesystems") as file:
            if "nfsd" not in file.read():
                return "this kernel has no server of NFS (nfsd)"
        return "the kernel's server of NFS belongs to the machine, not to an emulated host: its threads run outside of every host's group"


SERVICES = {kind.name: kind() for kind in (Memcached, Mosquitto, Haproxy, Varnish, Squid, Apache, Slapd, Bind, Zookeeper, Beanstalkd, Gearman, Icecc, Nfs, Prosody, Tomcat,
                                           Coturn, Ffmpeg, Povray, Php, Uwsgi, Pgbouncer, Node, Go, Java, CeleryRabbit, Nginx, Forest, Git)}
