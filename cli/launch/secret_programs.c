/* SPDX-License-Identifier: MIT */
/*
 * Options and positions that are secret only for certain programs: -p is a password for mysql, and
 * a port for docker run. Lists are words separated by blanks.
 */
#include "cli/launch/secret_private.h"

#include <string.h>

#include "common/error.h"

#define MYSQL                                                                                      \
    "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlsh mysqlbinlog "   \
    "mariadb mariadb-dump mariadb-admin mariadb-import mariadb-show mariadb-check mariadb-slap "   \
    "mariadb-backup mydumper myloader"
#define MONGO "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop"
#define LDAP "ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapcompare ldapmodrdn"
#define SAMBA "smbclient rpcclient smbget smbcacls smbtree smbmap net winexe wmic"
#define SNMP "snmpwalk snmpget snmpset snmpgetnext snmpbulkget snmpbulkwalk snmptable snmptrap"
#define CONTAINERS "docker podman nerdctl buildah skopeo crane oras helm regctl"
#define CURL_FLAGS "#0123469fgIijJkLlMnNOqRsSv"

static const struct secret_option options[] = {
    {MYSQL, NULL, "-p", VALUE_NONE, true, "", ""},
    {"sshpass", NULL, "-p", VALUE_WHOLE, true, "ve", ""},
    {"redis-cli", NULL, "-a requirepass masterauth AUTH auth", VALUE_WHOLE, false, "", ""},
    {"curl", NULL, "-u -U", VALUE_BEHIND, true, CURL_FLAGS, ":"},
    {"curl", NULL, "--user --proxy-user", VALUE_BEHIND, true, "", ":"},
    {"curl", NULL, "-E --cert", VALUE_BEHIND, false, CURL_FLAGS, ":"},
    {"curl", NULL, "-b --cookie --oauth2-bearer --pass", VALUE_WHOLE, true, CURL_FLAGS, ""},
    {"http https xh", NULL, "-a --auth", VALUE_BEHIND, false, "", ":"},
    {"ab", NULL, "-A -P", VALUE_BEHIND, true, "", ":"},
    {"ab", NULL, "-C", VALUE_BEHIND, true, "", "="},
    {"lftp", NULL, "-u", VALUE_BEHIND, true, "", ",:"},
    {"ncftp ncftpput ncftpget", NULL, "-p", VALUE_WHOLE, true, "", ""},
    {LDAP, NULL, "-w", VALUE_WHOLE, true, "xLZv", ""},
    {"ldappasswd", NULL, "-s -a", VALUE_WHOLE, true, "", ""},
    {SAMBA, NULL, "-U -u", VALUE_BEHIND, true, "", "%"},
    {SAMBA, NULL, "--user", VALUE_BEHIND, true, "", "%"},
    {"smbmap crackmapexec netexec nxc evil-winrm", NULL, "-p", VALUE_WHOLE, false, "", ""},
    {MONGO, NULL, "-p", VALUE_WHOLE, true, "", ""},
    {"cqlsh", NULL, "-p", VALUE_WHOLE, true, "", ""},
    {"sqlcmd bcp osql tsql isql-fb isql-fbsql gsec", NULL, "-P", VALUE_WHOLE, true, "", ""},
    {"isql-fb gsec gbak", NULL, "-pas", VALUE_WHOLE, false, "", ""},
    {"sqlplus sqlldr expdp impdp rman", NULL, "target userid", VALUE_BEHIND, false, "", "/"},
    {"zip unzip zipcloak funzip", NULL, "-P", VALUE_WHOLE, true, "rqjojuv0123456789", ""},
    {"7z 7za 7zr 7zz rar unrar p7zip arj", NULL, "-p -hp", VALUE_NONE, true, "", ""},
    {"openssl", NULL, "-k -K -S", VALUE_WHOLE, false, "", ""},
    {"openssl", NULL, "-passin -passout -pass -password", VALUE_BEHIND, false, "", ":"},
    {"ssh-keygen", NULL, "-N -P", VALUE_WHOLE, true, "q", ""},
    {"gpg-preset-passphrase", NULL, "-P", VALUE_WHOLE, false, "", ""},
    {"veracrypt truecrypt", NULL, "-p", VALUE_WHOLE, true, "", ""},
    {"useradd usermod groupadd groupmod", NULL, "-p", VALUE_WHOLE, true, "", ""},
    {"ipmitool", NULL, "-P -K -Y", VALUE_WHOLE, true, "", ""},
    {SNMP, NULL, "-A -X -c", VALUE_WHOLE, true, "", ""},
    {"mosquitto_pub mosquitto_sub mosquitto_rr", NULL, "-P --pw", VALUE_WHOLE, false, "", ""},
    {"rabbitmqadmin", NULL, "-p", VALUE_WHOLE, false, "", ""},
    {"rdesktop", NULL, "-p", VALUE_WHOLE, false, "", ""},
    {"xfreerdp wlfreerdp xfreerdp3", NULL, "/p: /gp: /pth:", VALUE_NONE, true, "", ""},
    {"plink pscp psftp putty", NULL, "-pw", VALUE_WHOLE, false, "", ""},
    {"nmcli", NULL, "password wifi-sec.psk 802-11-wireless-security.psk 802-1x.password",
     VALUE_WHOLE, false, "", ""},
    {"qpdf pdftk", NULL, "input_pw user_pw owner_pw", VALUE_WHOLE, false, "", ""},
    {"aws", NULL, "aws_secret_access_key aws_session_token aws_access_key_id", VALUE_WHOLE, false,
     "", ""},
    {"kubectl oc k3s", NULL, "--from-literal", VALUE_BEHIND, true, "", "="},
    {"oc", "login", "-p", VALUE_WHOLE, true, "", ""},
    {"az", "login", "-p", VALUE_WHOLE, false, "", ""},
    {CONTAINERS, "login", "-p", VALUE_WHOLE, true, "", ""},
    {"skopeo", NULL, "--creds --src-creds --dest-creds", VALUE_BEHIND, true, "", ":"},
    {"podman buildah", NULL, "--creds", VALUE_BEHIND, true, "", ":"},
    {"gh", "secret", "-b --body", VALUE_WHOLE, true, "", ""},
    {"twine", "upload", "-p", VALUE_WHOLE, false, "", ""},
    {"svn", NULL, "--password", VALUE_WHOLE, false, "", ""},
    {"hydra medusa", NULL, "-p", VALUE_WHOLE, true, "", ""},
};

static const struct secret_place places[] = {
    {"htpasswd", NULL, 3, ""},
    {"htpasswd", "-nb -bn -nbB -bnB -nbm -bnm -nbBC", 2, ""},
    {"mysqladmin mariadb-admin", "password", 1, ""},
    {"openssl", "passwd", 1, ""},
    {"vault", "login", 1, ""},
    {"ngrok", "authtoken add-authtoken", 1, ""},
    {"rabbitmqctl", "add_user change_password authenticate_user", 2, ""},
    {"radtest wpa_passphrase", NULL, 2, ""},
    {"isql iusql", NULL, 3, ""},
    {"mc mcli", "set", 3, ""},
    {"sqlplus sqlldr expdp impdp exp imp", NULL, 1, "/"},
};

/* Options before their command, like -p of sshpass. */
static const char wrappers[] = "sshpass";

/* A script with one of these passes on what it echoes. */
static const char *const fed[] = {
    "--password-stdin", "sudo -S",       "sudo -kS",        "sudo --stdin", "chpasswd",
    "vncpasswd",        "smbpasswd -s",  "--passphrase-fd", "cryptsetup",   "passwd --stdin",
    "htpasswd -i",      "pass:stdin",    "-pass stdin",     "kinit",        "-passin stdin",
    "--with-token",     "docker secret", "podman secret",   "--key-file -"};

/* The listed word that is `word`, or with `begins` one that `word` begins with; NULL: none. */
static const char *listed(const char *list, const char *word, bool begins, size_t *ret_size) {
    size_t all = strlen(word);
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        if ((n == all || (begins && n < all)) && strncmp(p, word, n) == 0) {
            *ret_size = n;
            return p;
        }
        p += n + (p[n] == ' ');
    }
    return NULL;
}

static bool is_listed(const char *list, const char *word) {
    size_t size;
    return list && listed(list, word, false, &size);
}

static bool is_program(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (is_listed(options[i].programs, name))
            return true;
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (is_listed(places[i].programs, name))
            return true;
    return false;
}

static void keep_word(char to[SECRET_LISTED_MAX], const char *word) {
    snprintf(to, SECRET_LISTED_MAX, "%s", word);
}

bool secret_program_find(const char *word, struct secret_program *ret_program) {
    const char *name = basename(word);
    if (!is_program(name))
        return false;
    *ret_program = (struct secret_program){.wraps = is_listed(wrappers, name)};
    keep_word(ret_program->name, name);
    return true;
}

/* A verb that any entry for the program names. */
static bool is_verb(const char *program, const char *word) {
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (is_listed(options[i].programs, program) && is_listed(options[i].verb, word))
            return true;
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (is_listed(places[i].programs, program) && is_listed(places[i].verb, word))
            return true;
    return false;
}

static const struct secret_place *find_place(const struct secret_program *program) {
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (is_listed(places[i].programs, program->name) && program->n_words >= places[i].from &&
            (!places[i].verb || is_listed(places[i].verb, program->verb)))
            return &places[i];
    return NULL;
}

const struct secret_place *secret_program_count(struct secret_program *program, const char *word) {
    if (!program->verb[0] && is_verb(program->name, word)) {
        keep_word(program->verb, word);
        program->n_words = 0;
        return NULL;
    }
    if (!program->name[0] || word[0] == '-')
        return NULL;
    if (program->wraps) {
        *program = (struct secret_program){0};
        return NULL;
    }
    program->n_words++;
    return find_place(program);
}

/* -sSLu: letters without values, then the option itself. */
static size_t clustered(const struct secret_option *option, const char *word) {
    size_t n = word[0] == '-' ? strspn(word + 1, option->before) : 0;
    char letter[3] = {'-', n ? word[1 + n] : '\0'};
    return n && letter[1] && is_listed(option->options, letter) ? n + 2 : 0;
}

static size_t begun(const struct secret_option *option, const char *word) {
    size_t n = 0;
    const char *found = listed(option->options, word, option->joined, &n);
    if (!found)
        return clustered(option, word);
    if (strncmp(found, "--", 2) == 0 && word[n])
        return word[n] == '=' ? n + 1 : 0;
    return n;
}

const struct secret_option *secret_program_option(const struct secret_program *program,
                                                  const char *word, size_t *ret_size) {
    for (size_t i = 0; program->name[0] && i < ARRAY_SIZE(options); i++) {
        const struct secret_option *option = &options[i];
        if (!is_listed(option->programs, program->name) ||
            (option->verb && !is_listed(option->verb, program->verb)))
            continue;
        size_t n = begun(option, word);
        if (n && (option->joined || !word[n])) {
            *ret_size = n;
            return option;
        }
    }
    return NULL;
}

bool secret_script_is_fed(const char *script) {
    for (size_t i = 0; i < ARRAY_SIZE(fed); i++)
        if (strstr(script, fed[i]))
            return true;
    return false;
}
