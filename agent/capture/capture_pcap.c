/* SPDX-License-Identifier: MIT */
/*
 * The one file that includes libpcap. The library is loaded only for --flows: it needs eight
 * further libraries (D-Bus, systemd, compression), which every agent would otherwise have in
 * memory.
 *
 * The device "any" with cooked headers of the second kind, which name the interface, needs one ring
 * for all interfaces. Without immediate mode the kernel collects packets in blocks (TPACKET_V3) and
 * delivers each when it is full or BLOCK_MS old.
 */
#include "agent/capture/capture.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <net/if_arp.h>
#include <pcap/pcap.h>
#include <pcap/sll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MS 50
#define ETHERNET_HEADER 14
#define ETHERTYPE_VLAN 0x8100
#define VLAN_TAG 4

/* The functions of libpcap, as declared in its header. */
struct library {
    void *handle;
    __typeof__(pcap_create) *create;
    __typeof__(pcap_set_snaplen) *set_snaplen;
    __typeof__(pcap_set_timeout) *set_timeout;
    __typeof__(pcap_set_buffer_size) *set_buffer_size;
    __typeof__(pcap_activate) *activate;
    __typeof__(pcap_set_datalink) *set_datalink;
    __typeof__(pcap_setfilter) *setfilter;
    __typeof__(pcap_setnonblock) *setnonblock;
    __typeof__(pcap_dispatch) *dispatch;
    __typeof__(pcap_stats) *stats;
    __typeof__(pcap_statustostr) *statustostr;
    __typeof__(pcap_geterr) *geterr;
    __typeof__(pcap_close) *close;
};

struct capture {
    struct library library;
    pcap_t *pcap;
    capture_take *take; /* during a drain */
    void *ctx;
    uint64_t dropped;
    uint32_t dropped_before; /* libpcap's count has 32 bits */
};

/* ---- the library ---- */

static bool load_symbol(const struct library *library, const char *name, void *slot) {
    void *symbol = dlsym(library->handle, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool load_symbols(struct library *l) {
    return load_symbol(l, "pcap_create", &l->create) &&
           load_symbol(l, "pcap_set_snaplen", &l->set_snaplen) &&
           load_symbol(l, "pcap_set_timeout", &l->set_timeout) &&
           load_symbol(l, "pcap_set_buffer_size", &l->set_buffer_size) &&
           load_symbol(l, "pcap_activate", &l->activate) &&
           load_symbol(l, "pcap_set_datalink", &l->set_datalink) &&
           load_symbol(l, "pcap_setfilter", &l->setfilter) &&
           load_symbol(l, "pcap_setnonblock", &l->setnonblock) &&
           load_symbol(l, "pcap_dispatch", &l->dispatch) &&
           load_symbol(l, "pcap_stats", &l->stats) &&
           load_symbol(l, "pcap_statustostr", &l->statustostr) &&
           load_symbol(l, "pcap_geterr", &l->geterr) && load_symbol(l, "pcap_close", &l->close);
}

static bool load_library(struct library *library) {
    static const char *const names[] = {"libpcap.so.0.8", "libpcap.so.1", "libpcap.so"};
    for (size_t i = 0; !library->handle && i < sizeof names / sizeof *names; i++)
        library->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library->handle && load_symbols(library);
}

/* ---- opening ---- */

static int refuse(struct capture *capture, int status, char *why, size_t why_size) {
    const char *detail = capture->library.geterr(capture->pcap);
    if (status == PCAP_ERROR_PERM_DENIED) {
        snprintf(why, why_size,
                 "capturing needs CAP_NET_RAW: run as root, or setcap cap_net_raw+ep "
                 "chokepoint-agent");
        return CAPTURE_ABSENT;
    }
    snprintf(why, why_size, "cannot capture: %s",
             detail && *detail ? detail : capture->library.statustostr(status));
    return -EIO;
}

/* libpcap shortens packets only when they are in the ring whole. A filter shortens them before. */
static int cut_packets(struct capture *capture, size_t bytes) {
    struct bpf_insn take_head = {.code = BPF_RET | BPF_K, .k = (bpf_u_int32)bytes};
    struct bpf_program program = {1, &take_head};
    return capture->library.setfilter(capture->pcap, &program);
}

static int activate(struct capture *capture, size_t head_bytes, size_t ring_bytes, char *why,
                    size_t why_size) {
    char error[PCAP_ERRBUF_SIZE] = "";
    const struct library *l = &capture->library;
    capture->pcap = l->create("any", error);
    if (!capture->pcap) {
        snprintf(why, why_size, "cannot capture: %s", error);
        return -EIO;
    }
    l->set_snaplen(capture->pcap, (int)(sizeof(struct sll2_header) + head_bytes));
    l->set_timeout(capture->pcap, BLOCK_MS);
    l->set_buffer_size(capture->pcap, (int)ring_bytes);
    int status = l->activate(capture->pcap);
    if (status >= 0)
        status = l->set_datalink(capture->pcap, DLT_LINUX_SLL2);
    if (status >= 0)
        status = cut_packets(capture, sizeof(struct sll2_header) + head_bytes);
    if (status >= 0)
        status = l->setnonblock(capture->pcap, 1, error);
    return status < 0 ? refuse(capture, status, why, why_size) : 0;
}

int capture_open(size_t head_bytes, size_t ring_bytes, struct capture **ret_capture, char *why,
                 size_t why_size) {
    struct capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return -ENOMEM;
    int r = CAPTURE_ABSENT;
    if (load_library(&capture->library))
        r = activate(capture, head_bytes, ring_bytes, why, why_size);
    else
        snprintf(why, why_size, "libpcap cannot be loaded: install it (Debian: libpcap0.8)");
    if (r == 0)
        *ret_capture = capture;
    else
        capture_close(capture);
    return r;
}

void capture_close(struct capture *capture) {
    if (!capture)
        return;
    if (capture->pcap)
        capture->library.close(capture->pcap);
    if (capture->library.handle)
        dlclose(capture->library.handle);
    free(capture);
}

/* ---- packets ---- */

/* A cooked packet lacks Ethernet's header, which the interface counts. */
static uint32_t link_header(uint16_t hardware) {
    return hardware == ARPHRD_ETHER ? ETHERNET_HEADER : 0;
}

static void take_packet(u_char *ctx, const struct pcap_pkthdr *header, const u_char *bytes) {
    struct capture *capture = (struct capture *)(void *)ctx;
    struct sll2_header cooked;
    if (header->caplen < sizeof cooked || header->len < sizeof cooked)
        return;
    memcpy(&cooked, bytes, sizeof cooked);
    struct captured packet = {.interface = (int)ntohl(cooked.sll2_if_index),
                              .sent = cooked.sll2_pkttype == LINUX_SLL_OUTGOING,
                              .protocol = ntohs(cooked.sll2_protocol),
                              .bytes = header->len - (uint32_t)sizeof cooked +
                                       link_header(ntohs(cooked.sll2_hatype)),
                              .head = bytes + sizeof cooked,
                              .head_size = header->caplen - sizeof cooked};
    if (packet.protocol == ETHERTYPE_VLAN && packet.head_size >= VLAN_TAG) {
        packet.protocol = (uint16_t)(packet.head[2] << 8 | packet.head[3]);
        packet.head += VLAN_TAG;
        packet.head_size -= VLAN_TAG;
    }
    capture->take(capture->ctx, &packet);
}

int capture_drain(struct capture *capture, capture_take *take, void *ctx) {
    capture->take = take;
    capture->ctx = ctx;
    int n = capture->library.dispatch(capture->pcap, -1, take_packet, (u_char *)capture);
    return n == PCAP_ERROR ? -EIO : 0;
}

uint64_t capture_dropped(struct capture *capture) {
    struct pcap_stat stat;
    if (capture->library.stats(capture->pcap, &stat) == 0) {
        capture->dropped += stat.ps_drop - capture->dropped_before;
        capture->dropped_before = stat.ps_drop;
    }
    return capture->dropped;
}
