/* SPDX-License-Identifier: MIT */
/*
 * Authentication of the two ends of a run. The collector has a key pair made for the run, and
 * agents are given the hash of its public half (the pin). A host has a key derived from the run's
 * secret and its name, so that it cannot speak for another host. credentials.c is the only file
 * that knows GnuTLS.
 */
#ifndef CHOKEPOINT_COLLECTOR_CREDENTIALS_H
#define CHOKEPOINT_COLLECTOR_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_KEY_SIZE 33 /* 32 hexadecimal digits and a NUL */
#define PIN_SIZE 64      /* "sha256//" and 44 characters of base64, the form of libcurl */

/* The key of one host: HMAC-SHA256 of its name under the run's secret, its first 128 bits. -EIO. */
int credentials_host_key(const char *secret, const char *host, char ret_key[HOST_KEY_SIZE]);

/* Whether `size` received bytes equal the secret, which is not empty. The time it takes reveals
 * only whether the lengths differ. */
bool credentials_match(const char *came, size_t size, const char *secret);

struct credentials {
    char *key;         /* owned, secret: the private key as PEM */
    char *certificate; /* owned: self-signed, as PEM */
    char pin[PIN_SIZE];
};

/* Makes a certificate of the private key (PEM); NULL: of a new key. The pin depends on the key
 * alone. -EINVAL (not a key), -EIO. The caller releases it in any case. */
int credentials_make(const char *key, struct credentials *ret_credentials);
/* The certificate's SHA-256 as browsers show it, "AB:CD:...". -EINVAL. */
#define FINGERPRINT_SIZE 96
int credentials_fingerprint(const char *certificate, char ret_fingerprint[FINGERPRINT_SIZE]);
void credentials_release(struct credentials *credentials); /* wipes the key */

#endif
