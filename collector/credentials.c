/* SPDX-License-Identifier: MIT */
/*
 * The pin is the hash of the public key and not of the certificate. A restarted collector signs a
 * new certificate with the run's key, and the agents' pins stay valid. Names and dates in the
 * certificate are not checked.
 */
#include "collector/credentials.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/error.h"

#define DAY_S 86400

int credentials_host_key(const char *secret, const char *host, char ret_key[HOST_KEY_SIZE]) {
    unsigned char digest[32];
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret, strlen(secret), host, strlen(host), digest) < 0)
        return -EIO;
    for (size_t i = 0; i < HOST_KEY_SIZE / 2; i++)
        snprintf(ret_key + 2 * i, 3, "%02x", digest[i]);
    explicit_bzero(digest, sizeof digest);
    return 0;
}

static int text_of(int r, gnutls_datum_t *datum, char **ret_text) {
    if (r < 0)
        return -EIO;
    *ret_text = strndup((const char *)datum->data, datum->size);
    explicit_bzero(datum->data, datum->size);
    gnutls_free(datum->data);
    return *ret_text ? 0 : -ENOMEM;
}

static int take_key(gnutls_x509_privkey_t key, const char *pem) {
    const gnutls_datum_t text = {(unsigned char *)pem, pem ? (unsigned)strlen(pem) : 0};
    if (pem)
        return gnutls_x509_privkey_import(key, &text, GNUTLS_X509_FMT_PEM) < 0 ? -EINVAL : 0;
    unsigned bits = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
    return gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, bits, 0) < 0 ? -EIO : 0;
}

static int sign(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key) {
    static const char name[] = "chokepoint";
    time_t now = time(NULL);
    if (gnutls_x509_crt_set_version(crt, 3) < 0 || gnutls_x509_crt_set_serial(crt, "\1", 1) < 0 ||
        gnutls_x509_crt_set_activation_time(crt, now - DAY_S) < 0 ||
        gnutls_x509_crt_set_expiration_time(crt, now + (time_t)3650 * DAY_S) < 0 ||
        gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name, sizeof name - 1) <
            0 ||
        gnutls_x509_crt_set_key(crt, key) < 0 ||
        gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0) < 0)
        return -EIO;
    return 0;
}

static int hash_public_key(const gnutls_datum_t *der, char *ret_pin) {
    unsigned char digest[32];
    const gnutls_datum_t hash = {digest, sizeof digest};
    gnutls_datum_t base64;
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, der->data, der->size, digest) < 0 ||
        gnutls_base64_encode2(&hash, &base64) < 0)
        return -EIO;
    snprintf(ret_pin, PIN_SIZE, "sha256//%.*s", (int)base64.size, base64.data);
    gnutls_free(base64.data);
    return 0;
}

static int pin_of(gnutls_x509_crt_t crt, char *ret_pin) {
    gnutls_pubkey_t public;
    gnutls_datum_t der = {0};
    if (gnutls_pubkey_init(&public) < 0)
        return -EIO;
    int r = gnutls_pubkey_import_x509(public, crt, 0) < 0 ||
                    gnutls_pubkey_export2(public, GNUTLS_X509_FMT_DER, &der) < 0
                ? -EIO
                : hash_public_key(&der, ret_pin);
    gnutls_free(der.data);
    gnutls_pubkey_deinit(public);
    return r;
}

static int make(gnutls_x509_privkey_t key, gnutls_x509_crt_t crt, const char *pem,
                struct credentials *to) {
    gnutls_datum_t text;
    int r = take_key(key, pem);
    if (r == 0)
        r = sign(crt, key);
    if (r == 0)
        r = pin_of(crt, to->pin);
    if (r == 0)
        r = text_of(gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL,
                                                      GNUTLS_PKCS_PLAIN, &text),
                    &text, &to->key);
    if (r == 0)
        r = text_of(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text), &text,
                    &to->certificate);
    return r;
}

bool credentials_match(const char *came, size_t size, const char *secret) {
    return secret[0] && size == strlen(secret) && gnutls_memcmp(came, secret, size) == 0;
}

int credentials_make(const char *key, struct credentials *ret_credentials) {
    gnutls_x509_privkey_t private;
    gnutls_x509_crt_t crt;
    *ret_credentials = (struct credentials){0};
    if (gnutls_x509_privkey_init(&private) < 0)
        return -ENOMEM;
    if (gnutls_x509_crt_init(&crt) < 0)
        return gnutls_x509_privkey_deinit(private), -ENOMEM;
    int r = make(private, crt, key, ret_credentials);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(private);
    return r;
}

int credentials_fingerprint(const char *certificate, char ret_fingerprint[FINGERPRINT_SIZE]) {
    const gnutls_datum_t pem = {(unsigned char *)certificate, (unsigned)strlen(certificate)};
    unsigned char digest[FINGERPRINT_SIZE / 3];
    size_t size = sizeof digest;
    gnutls_x509_crt_t crt;
    if (gnutls_x509_crt_init(&crt) < 0)
        return -ENOMEM;
    int r = gnutls_x509_crt_import(crt, &pem, GNUTLS_X509_FMT_PEM) < 0 ||
                    gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, digest, &size) < 0
                ? -EINVAL
                : 0;
    gnutls_x509_crt_deinit(crt);
    for (size_t i = 0; r == 0 && i < size; i++)
        sprintf(ret_fingerprint + 3 * i, i + 1 < size ? "%02X:" : "%02X", digest[i]);
    return r;
}

void credentials_release(struct credentials *credentials) {
    if (credentials->key)
        explicit_bzero(credentials->key, strlen(credentials->key));
    free(credentials->key);
    free(credentials->certificate);
    *credentials = (struct credentials){0};
}
