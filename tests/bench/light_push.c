/* SPDX-License-Identifier: MIT */
/* The collector's key is not checked: it is the benchmark's own, on this machine. */
#include "tests/bench/light_push.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct light_push {
    int fd;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    char head[400];
};

static int connect_to(const char *url) {
    struct sockaddr_in to = {.sin_family = AF_INET};
    char address[32];
    unsigned short port;
    int on = 1;
    if (sscanf(url, "https://%31[0-9.]:%hu", address, &port) != 2)
        return -EINVAL;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -errno;
}

static int shake_hands(struct light_push *light) {
    int r;
    gnutls_certificate_allocate_credentials(&light->credentials);
    gnutls_init(&light->session, GNUTLS_CLIENT);
    gnutls_priority_set_direct(light->session, "SECURE128:-VERS-ALL:+VERS-TLS1.3", NULL);
    gnutls_credentials_set(light->session, GNUTLS_CRD_CERTIFICATE, light->credentials);
    gnutls_transport_set_int(light->session, light->fd);
    while ((r = gnutls_handshake(light->session)) < 0 && !gnutls_error_is_fatal(r))
        ;
    return r < 0 ? -EPROTO : 0;
}

int light_push_open(const char *url, const char *host, const char *key,
                    struct light_push **ret_light) {
    struct light_push *light = calloc(1, sizeof *light);
    if (!light)
        return -ENOMEM;
    snprintf(light->head, sizeof light->head,
             "POST /v1/frames HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"
             "Chokepoint-Host: %s\r\nContent-Length: ",
             key, host);
    light->fd = connect_to(url);
    int r = light->fd < 0 ? light->fd : shake_hands(light);
    if (r < 0)
        light_push_close(light);
    else
        *ret_light = light;
    return r;
}

void light_push_close(struct light_push *light) {
    if (light->session)
        gnutls_deinit(light->session);
    if (light->credentials)
        gnutls_certificate_free_credentials(light->credentials);
    if (light->fd >= 0)
        close(light->fd);
    free(light);
}

static int send_all(struct light_push *light, const void *data, size_t size) {
    while (size) {
        ssize_t n = gnutls_record_send(light->session, data, size);
        if (n < 0 && gnutls_error_is_fatal((int)n))
            return -EPIPE;
        data = (const char *)data + (n > 0 ? n : 0);
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* No answer in the benchmark is longer than this, or in pieces. */
static int receive(struct light_push *light, char *text, size_t size) {
    size_t got = 0;
    const char *body = NULL, *length = NULL;
    while (!body || got < (size_t)(body + 4 - text) + strtoull(length + 16, NULL, 10)) {
        ssize_t n = got + 1 < size ? gnutls_record_recv(light->session, text + got, size - 1 - got)
                                   : GNUTLS_E_SHORT_MEMORY_BUFFER;
        if (n == 0 || (n < 0 && gnutls_error_is_fatal((int)n)))
            return -EPIPE;
        got += n > 0 ? (size_t)n : 0;
        text[got] = '\0';
        body = strstr(text, "\r\n\r\n");
        length = strcasestr(text, "Content-Length: ");
        if (body && !length)
            return -EPROTO;
    }
    return 0;
}

int light_push_post(struct light_push *light, const struct buffer *body,
                    struct push_answer *ret_answer) {
    char text[2048], head[512];
    int size = snprintf(head, sizeof head, "%s%zu\r\n\r\n", light->head, body->size);
    int r = send_all(light, head, (size_t)size);
    if (r == 0)
        r = send_all(light, body->data, body->size);
    if (r == 0)
        r = receive(light, text, sizeof text);
    if (r < 0)
        return r;
    ret_answer->status = strtol(text + 9, NULL, 10);
    snprintf(ret_answer->text, sizeof ret_answer->text, "%s", strstr(text, "\r\n\r\n") + 4);
    return 0;
}
