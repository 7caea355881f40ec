/* SPDX-License-Identifier: MIT */
/*
 * The last part of a name tells what its value is: a password_file is a path, an eos_token a word
 * of a language model.
 */
#include "cli/launch/secret_private.h"

#include <ctype.h>
#include <string.h>

#include "common/error.h"

#define NAME_MAX_BYTES 64

static const char *const secret_parts[] = {"password",
                                           "passwd",
                                           "passphrase",
                                           "pass",
                                           "pwd",
                                           "pw",
                                           "passcode",
                                           "passwort",
                                           "secret",
                                           "token",
                                           "credential",
                                           "credentials",
                                           "api_key",
                                           "apikey",
                                           "key_id",
                                           "access_key",
                                           "accesskey",
                                           "auth_key",
                                           "authkey",
                                           "private_key",
                                           "privatekey",
                                           "secret_key",
                                           "secretkey",
                                           "account_key",
                                           "accountkey",
                                           "master_key",
                                           "signing_key",
                                           "license_key",
                                           "encryption_key",
                                           "client_key",
                                           "service_key",
                                           "pat",
                                           "auth",
                                           "authtoken",
                                           "authorization",
                                           "cookie",
                                           "psk",
                                           "otp",
                                           "jwt",
                                           "bearer",
                                           "storepass",
                                           "keypass",
                                           "dbpass",
                                           "userpass",
                                           "rootpass",
                                           "adminpass",
                                           "mypass",
                                           "requirepass",
                                           "masterauth",
                                           "sessionid",
                                           "phpsessid",
                                           "jsessionid",
                                           "accesstoken",
                                           "refreshtoken",
                                           "idtoken",
                                           "clientsecret",
                                           "upw",
                                           "opw",
                                           "user_pw",
                                           "owner_pw",
                                           "security_code",
                                           "sshpass",
                                           "subscription_key",
                                           "secret_key_base"};

static const char *const harmless_parts[] = {
    "eos_token",  "bos_token",   "pad_token",  "unk_token",    "sep_token",  "cls_token",
    "mask_token", "stop_token",  "next_token", "image_token",  "end_token",  "start_token",
    "per_token",  "first_token", "no_auth",    "require_auth", "use_auth",   "set_cookie_path",
    "with_token", "new_token",   "last_token", "max_token",    "enable_auth"};

/* PGPASSWORD, dbpasswd */
static const char *const secret_ends[] = {"password", "passwd", "passphrase"};

static const char *const query_parts[] = {"key", "sig", "signature", "code"};

bool secret_token_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* The name in lower case, parts joined by '_': "X-Api-Key", "apiKey", "api.key" -> "api_key". */
static bool normalize(const char *name, size_t size, char to[NAME_MAX_BYTES]) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)name[i];
        bool upper_follows = i && isupper(c) && islower((unsigned char)name[i - 1]);
        if (n + 3 > NAME_MAX_BYTES || !secret_token_char((char)c))
            return false;
        if (upper_follows)
            to[n++] = '_';
        to[n++] = isalnum(c) ? (char)tolower(c) : '_';
    }
    to[n] = '\0';
    return n > 0;
}

static bool ends_with_part(const char *name, const char *part) {
    size_t n = strlen(name), m = strlen(part);
    return n >= m && strcmp(name + n - m, part) == 0 && (n == m || name[n - m - 1] == '_');
}

static bool ends_with_any(const char *name, const char *const *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ends_with_part(name, parts[i]))
            return true;
    return false;
}

static bool ends_in_password(const char *name) {
    size_t n = strlen(name);
    for (size_t i = 0; i < ARRAY_SIZE(secret_ends); i++)
        if (n > strlen(secret_ends[i]) &&
            strcmp(name + n - strlen(secret_ends[i]), secret_ends[i]) == 0)
            return true;
    return false;
}

bool secret_name(const char *text, size_t size) {
    char name[NAME_MAX_BYTES];
    return normalize(text, size, name) &&
           (ends_with_any(name, secret_parts, ARRAY_SIZE(secret_parts)) ||
            ends_in_password(name)) &&
           !ends_with_any(name, harmless_parts, ARRAY_SIZE(harmless_parts));
}

bool secret_option_name(const char *text, size_t size, bool option) {
    return secret_name(text, size) || (option && size > 1 && secret_name(text + 1, size - 1));
}

bool secret_query_name(const char *text, size_t size) {
    char name[NAME_MAX_BYTES];
    return secret_name(text, size) || (normalize(text, size, name) &&
                                       ends_with_any(name, query_parts, ARRAY_SIZE(query_parts)));
}
