/* SPDX-License-Identifier: MIT */
/* Commands with secrets, and commands with words that look like some. Secrets here are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/launch/secret_words.h"
#include "common/error.h"

#define WORDS_MAX 9

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

/* Words that a careless masking would spoil. */
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

static void other_words_stay_as_they_are(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
        char **masked = secret_words_mask((char *const *)harmless[i]);
        for (size_t w = 0; w < WORDS_MAX && harmless[i][w]; w++)
            assert_string_equal(masked[w], harmless[i][w]);
        secret_words_free(masked);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_masked),
        cmocka_unit_test(other_words_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
