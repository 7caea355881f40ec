/* SPDX-License-Identifier: MIT */
/* Commands with secrets, and commands with words that resemble secrets. The secrets are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/launch/secret_words.h"
#include "common/error.h"

#define WORDS_MAX 11

static const struct {
    const char *words[WORDS_MAX], *masked[WORDS_MAX];
} secrets[] = {
    {{"app", "--password=hunter2"}, {"app", "--password=***"}},
    {{"app", "--password=two words"}, {"app", "--password=***"}},
    {{"app", "--password", "hunter2", "x"}, {"app", "--password", "***", "x"}},
    {{"app", "-passwd", "hunter2"}, {"app", "-passwd", "***"}},
    {{"app", "--db-password=a=b"}, {"app", "--db-password=***"}},
    {{"app", "--apiKey=abc"}, {"app", "--apiKey=***"}},
    {{"env", "MY_PASSWORD=two words", "x"}, {"env", "MY_PASSWORD=***", "x"}},
    {{"sh", "-ec", "MY_PASSWORD=two words"}, {"sh", "-ec", "MY_PASSWORD=*** words"}},
    {{"sh", "-c", "TOKEN=abc"}, {"sh", "-c", "TOKEN=***"}},
    {{"env", "HF_TOKEN=abc", "train"}, {"env", "HF_TOKEN=***", "train"}},
    {{"env", "AWS_SECRET_ACCESS_KEY=abc/def+"}, {"env", "AWS_SECRET_ACCESS_KEY=***"}},
    {{"mpirun", "-x", "PGPASSWORD=a:b", "train"}, {"mpirun", "-x", "PGPASSWORD=***", "train"}},
    {{"mysql", "-u", "root", "-phunter2", "db"}, {"mysql", "-u", "root", "-p***", "db"}},
    {{"/usr/bin/mysqldump", "-phunter2"}, {"/usr/bin/mysqldump", "-p***"}},
    {{"sshpass", "-p", "hunter2", "ssh", "h"}, {"sshpass", "-p", "***", "ssh", "h"}},
    {{"redis-cli", "-a", "hunter2"}, {"redis-cli", "-a", "***"}},
    {{"curl", "-u", "me:hunter2", "u"}, {"curl", "-u", "me:***", "u"}},
    {{"curl", "-ume:hunter2"}, {"curl", "-ume:***"}},
    {{"curl", "-H", "Authorization: Bearer abc.def"}, {"curl", "-H", "Authorization: ***"}},
    {{"curl", "-H", "X-Api-Key: abc"}, {"curl", "-H", "X-Api-Key: ***"}},
    {{"app", "Bearer", "abc"}, {"app", "Bearer", "***"}},
    {{"app", "--header=Bearer abc"}, {"app", "--header=Bearer ***"}},
    {{"pull", "https://me:hunter2@host/x@y"}, {"pull", "https://me:***@host/x@y"}},
    {{"app", "--url=amqp://u:a:b@h:5672/v"}, {"app", "--url=amqp://u:***@h:5672/v"}},
    {{"app", "AKIAABCDEFGHIJKLMNOP"}, {"app", "***"}},
    {{"app", "--with=ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, {"app", "--with=***"}},
    {{"app", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijklmnop"}, {"app", "***"}},
    {{"sh", "-c", "PASSWORD=a mysql -phunter2 && x"},
     {"sh", "-c", "PASSWORD=*** mysql -p*** && x"}},
    {{"sh", "-c", "app --token 'abc' | tee log"}, {"sh", "-c", "app --token '***' | tee log"}},
    {{"sh", "-c", "curl -H 'PRIVATE-TOKEN: abc' u"},
     {"sh", "-c", "curl -H 'PRIVATE-TOKEN: ***' u"}},
};

/* Each contains the secret somewhere; none may be left, and the program's name stays. */
#define MARK "hunter2"
static const char *const planted[][WORDS_MAX] = {
    /* headers */
    {"curl", "-H", "Authorization: Bearer hunter2", "https://h/"},
    {"curl", "-HAuthorization: Basic hunter2", "https://h/"},
    {"curl", "--header=X-Auth-Token: hunter2 and more hunter2"},
    {"curl", "-H", "Cookie: session=hunter2; theme=hunter2"},
    {"wget", "--header", "Proxy-Authorization: Digest hunter2"},
    {"sh", "-c", "curl -H 'Authorization: Bearer hunter2' u"},
    {"sh", "-c", "curl -H \"Authorization: token hunter2\" u | jq ."},
    {"bash", "-c", "bash -c \"curl -H \\\"Authorization: Bearer hunter2\\\" u\""},
    {"sh", "-c", "cat <<E\nAuthorization: Bearer hunter2\nE"},
    {"sh", "-c", "curl -H Authorization:\\ Bearer\\ hunter2 u"},
    {"http", "GET", "h", "Authorization: Bearer hunter2"},
    {"grpcurl", "-H", "x-api-key: hunter2", "h:443"},
    /* documents */
    {"curl", "-d", "{\"password\":\"hunter2\"}", "u"},
    {"curl", "-d", "{\"user\": \"me\", \"password\": \"a hunter2\"}", "u"},
    {"sh", "-c", "curl -d '{\"api_key\": \"hunter2\", \"n\": 1}' u"},
    {"sh", "-c", "curl -d \"{\\\"token\\\": \\\"hunter2\\\"}\" u"},
    {"curl", "--json", "[{\"auth\": {\"clientSecret\" : \"hunter2\"}}]"},
    {"app", "{'password': 'hunter2'}"},
    {"app", "--config={\"db\":{\"passwd\":\"hunter2\"}}"},
    {"python3", "-c", "connect(user='me', password='hunter2')"},
    {"python3", "-c", "password = 'hunter2'\nlogin(password)"},
    {"python3", "-c", "requests.get(u, auth=('me', 'hunter2'), verify=True)"},
    {"git", "-c", "http.extraHeader=Authorization: Basic hunter2", "clone", "u"},
    {"app", "--token:hunter2"},
    {"env", "SECRET_KEY_BASE=hunter2", "rails", "server"},
    {"ssh", "h", "mysql -phunter2"},
    {"ruby", "-e", "login :password => 'hunter2'"},
    /* options of known programs */
    {"docker", "login", "-u", "me", "-p", "hunter2", "registry"},
    {"docker", "login", "-phunter2"},
    {"podman", "login", "--password=hunter2"},
    {"helm", "registry", "login", "-p", "hunter2"},
    {"sh", "-c", "docker login -u me -p hunter2 && docker push x"},
    {"mysql", "-uroot", "-phunter2"},
    {"mariadb-dump", "-phunter2", "db"},
    {"mysqladmin", "-u", "root", "password", "hunter2"},
    {"sshpass", "-phunter2", "ssh", "-p2222", "h"},
    {"sshpass", "-p", "x", "mysql", "-phunter2"},
    {"redis-cli", "-h", "h", "-a", "hunter2", "ping"},
    {"redis-cli", "AUTH", "hunter2"},
    {"redis-cli", "config", "set", "requirepass", "hunter2"},
    {"curl", "-sSLu", "me:hunter2", "u"},
    {"curl", "--user=me:hunter2", "u"},
    {"curl", "-U", "me:hunter2", "-x", "proxy", "u"},
    {"curl", "-b", "hunter2", "u"},
    {"wget", "--http-password=hunter2", "u"},
    {"lftp", "-u", "me,hunter2", "ftp://h"},
    {"ldapsearch", "-x", "-D", "cn=admin", "-w", "hunter2"},
    {"ldapsearch", "-xwhunter2"},
    {"smbclient", "-U", "me%hunter2", "//h/s"},
    {"rpcclient", "-Ume%hunter2", "h"},
    {"htpasswd", "-b", "file", "me", "hunter2"},
    {"htpasswd", "-nb", "me", "hunter2"},
    {"7z", "a", "-phunter2", "x.7z"},
    {"zip", "-P", "hunter2", "x.zip", "y"},
    {"zip", "-rPhunter2", "x.zip", "y"},
    {"unrar", "x", "-hphunter2", "x.rar"},
    {"gpg", "--batch", "--passphrase", "hunter2", "-c", "f"},
    {"openssl", "enc", "-aes-256-cbc", "-pass", "pass:hunter2"},
    {"openssl", "rsa", "-passin", "pass:hunter2", "-in", "k"},
    {"openssl", "enc", "-k", "hunter2"},
    {"openssl", "passwd", "-6", "hunter2"},
    {"app", "pass:hunter2"},
    {"ssh-keygen", "-t", "ed25519", "-N", "hunter2"},
    {"mongosh", "-u", "me", "-p", "hunter2"},
    {"sqlcmd", "-S", "h", "-U", "sa", "-Phunter2"},
    {"sqlplus", "-S", "me/hunter2@db"},
    {"snmpwalk", "-v3", "-A", "hunter2", "h"},
    {"snmpget", "-v2c", "-c", "hunter2", "h"},
    {"mosquitto_pub", "-u", "me", "-P", "hunter2", "-t", "x"},
    {"xfreerdp", "/u:me", "/p:hunter2", "/v:h"},
    {"plink", "-pw", "hunter2", "h"},
    {"ipmitool", "-H", "h", "-P", "hunter2"},
    {"nmcli", "dev", "wifi", "connect", "x", "password", "hunter2"},
    {"aws", "configure", "set", "aws_secret_access_key", "hunter2"},
    {"kubectl", "create", "secret", "generic", "n", "--from-literal=k=hunter2"},
    {"kubectl", "--token", "hunter2", "get", "pods"},
    {"vault", "login", "hunter2"},
    {"rabbitmqctl", "add_user", "me", "hunter2"},
    {"keytool", "-list", "-storepass", "hunter2"},
    {"sh", "-c", "echo hunter2 | docker login --password-stdin"},
    {"sh", "-c", "printf '%s' 'hunter2' | vncpasswd -f > f"},
    {"sh", "-c", "echo me:hunter2 | chpasswd"},
    {"sh", "-c", "chpasswd <<< me:hunter2"},
    /* environments and assignments */
    {"env", "LDAP_PW=hunter2", "x"},
    {"env", "DB_PASS=hunter2", "MYSQL_PWD=hunter2", "x"},
    {"sh", "-c", "export DB_PASS='a hunter2'; x"},
    {"docker", "run", "-e", "POSTGRES_PASSWORD=hunter2", "postgres"},
    {"docker", "run", "-eTOKEN=hunter2", "x"},
    {"java", "-Ddb.password=hunter2", "-Dtoken=hunter2", "Main"},
    {"ansible", "all", "-e", "ansible_become_pass=hunter2"},
    {"helm", "install", "x", "--set", "a=1,auth.password=hunter2"},
    {"mount", "-o", "username=me,password=hunter2", "//h/s", "/m"},
    {"app", "Server=h;User=me;Password=hunter2;Database=d"},
    {"app", "--dsn=host=h password=hunter2 dbname=d"},
    {"psql", "host=h password=hunter2 dbname=d"},
    /* addresses */
    {"psql", "postgresql://me:hunter2@h/db"},
    {"git", "clone", "https://oauth2:hunter2@host/x.git"},
    {"git", "clone", "https://hunter2hunter2hunter2@host/x.git"},
    {"curl", "https://h/x?a=1&token=hunter2&b=2"},
    {"curl", "https://h/x?key=hunter2"},
    {"curl", "https://h/x?X-Amz-Signature=hunter2"},
    {"curl", "https://hooks.slack.com/services/T0/B0/hunter2"},
    {"curl", "https://api.telegram.org/bot1:hunter2/send"},
};

/* Words that careless masking would spoil. */
static const char *const harmless[][WORDS_MAX] = {
    {"train", "--max-tokens=4096", "--tokenizer", "bpe"},
    {"train", "--eos-token=</s>", "--pad_token", "0"},
    {"train", "--token-count=12", "--author=me", "--keys=7"},
    {"app", "--password-file=/run/secret", "--key-size=2048"},
    {"mkdir", "-p", "a/b", "-pv"},
    {"mpirun", "-np", "4", "--map-by", "ppr:2:node", "train"},
    {"ssh", "-p2222", "me@host"},
    {"mysql", "-p", "db"},
    {"curl", "-o", "file", "https://host:443/a:b@c"},
    {"pull", "https://me@host/x", "s3://bucket/key=1"},
    {"task-AKIAABCDEFGHIJKLMNOP", "sk-learn", "hf_transfer", "eyJ"},
    {"app", "--compass=north", "--bypass", "now", "passage=1"},
    {"sh", "-c", "for i in 1 2; do echo \"$i\"; done > log"},
    {"app", "", "-", "--", "=", "://", ":", "--="},
    {"app", "--password=", "--secret"},
    {"app", "\xff\xfe", "名前=x"},
    {"docker", "run", "-p", "8080:80", "-v", "/a:/b", "auth:latest"},
    {"docker", "run", "registry/team/token:1.2", "login.py"},
    {"sshpass", "-f", "file", "ssh", "-p2222", "me@host"},
    {"sh", "-c", "mysql db && tar -pxf x.tar && ssh -p2222 h"},
    {"sh", "-c", "TOKEN= PASSWORD= make (all) && ls"},
    {"tar", "-pxzf", "x.tgz", "-C", "/opt"},
    {"ps", "-u", "me:x"},
    {"python3", "-c", "print('a b', 1 + 2)", "-u"},
    {"curl", "-sSLo", "f", "-H", "Accept: text/html", "https://h/x?page=2&sort=name"},
    {"curl", "-d", "{\"user\": \"me\", \"n\": [1, 2]}", "http://h:80/"},
    {"sh", "-c", "echo it's done; cat my\\ file; grep -c 'a b' f | sort -k2"},
    {"awk", "-F:", "{ print $1 }", "/etc/passwd"},
    {"find", ".", "-name", "*.c", "-exec", "grep", "-l", "pass", "{}", "+"},
    {"mpirun", "-np", "4", "-x", "OMP_NUM_THREADS=2", "./pw.x", "-in", "pw.in"},
    {"srun", "-n4", "--mpi=pmix", "./a.out", "--passes=3"},
    {"rsync", "-az", "--password-file=f", "me@h::m/", "d"},
    {"psql", "-h", "h", "-U", "me", "-p", "5432", "-c", "select 1"},
    {"git", "commit", "-m", "docs: the token says who asks"},
    {"openssl", "req", "-x509", "-passin", "stdin", "-in", "k.pem"},
    {"gcc", "-DKEY=1", "-O2", "-c", "token.c", "-o", "token.o"},
    {"train", "--tokens-per-batch=4096", "--author", "x", "--compass=1"},
};

static void secrets_are_masked(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
        char **masked = secret_words_mask((char *const *)secrets[i].words);
        for (size_t w = 0; secrets[i].words[w]; w++)
            if (!masked[w] || strcmp(masked[w], secrets[i].masked[w]) != 0)
                fail_msg("%s: '%s' is not '%s'", secrets[i].words[w], masked[w],
                         secrets[i].masked[w]);
        secret_words_free(masked);
    }
}

static void no_planted_secret_is_left(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
        char **masked = secret_words_mask((char *const *)planted[i]);
        assert_string_equal(masked[0], planted[i][0]);
        for (size_t w = 0; masked[w]; w++)
            if (strstr(masked[w], MARK))
                fail_msg("%s, line %zu: '%s' is left of '%s'", planted[i][0], i, masked[w],
                         planted[i][w]);
        secret_words_free(masked);
    }
}

static void secrets_are_told_by_their_shape(void **state) {
    static const char *const shaped[] = {
        "AKIAABCDEFGHIJKLMNOP",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_abcdefghijklmnopqrstuvwxyz0123456789",
        "glpat-abcdefghijklmnopqrst",
        "xoxb-1234567890-abcdefghijkl",
        "xoxp-1234567890-abcdefghijkl",
        "AIzaabcdefghijklmnopqrstuvwxyz0123456789",
        "sk_live_abcdefghijklmnopqrstuvwx",
        "hf_abcdefghijklmnopqrstuvwxyz0123456789",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijklmnop",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shaped); i++) {
        char *const words[] = {(char *)"app", (char *)shaped[i], NULL};
        char **masked = secret_words_mask(words);
        assert_null(strstr(masked[1], shaped[i] + 10));
        secret_words_free(masked);
    }
}

static void other_words_stay_as_they_are(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
        char **masked = secret_words_mask((char *const *)harmless[i]);
        for (size_t w = 0; w < WORDS_MAX && harmless[i][w]; w++)
            if (strcmp(masked[w], harmless[i][w]) != 0)
                fail_msg("'%s' became '%s'", harmless[i][w], masked[w]);
        secret_words_free(masked);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_masked),
        cmocka_unit_test(no_planted_secret_is_left),
        cmocka_unit_test(secrets_are_told_by_their_shape),
        cmocka_unit_test(other_words_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
