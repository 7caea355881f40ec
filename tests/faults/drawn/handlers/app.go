// SPDX-License-Identifier: MIT

// Go before Redis: app PORT REDIS:PORT POOL. A request sets a key and reads it over one of POOL connections. Variables: HANDLER_MS,
// DOWN (address of a downstream that is asked in between), HOT (1: one lock around the questions).
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type link struct {
	net.Conn
	in *bufio.Reader
}

func (l *link) ask(words ...string) error {
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := l.Write([]byte(text)); err != nil {
		return err
	}
	line, err := l.in.ReadString('\n')
	if err != nil {
		return err
	}
	size, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	if line[0] == '$' && size > 0 {
		_, err = io.CopyN(io.Discard, l.in, int64(size+2))
	}
	if line[0] == '-' {
		err = fmt.Errorf("%s", line)
	}
	return err
}

func main() {
	pool, _ := strconv.Atoi(os.Args[3])
	handler, _ := strconv.ParseFloat(os.Getenv("HANDLER_MS"), 64)
	down := os.Getenv("DOWN")
	hot := os.Getenv("HOT") != ""
	links := make(chan *link, pool)
	for i := 0; i < pool; i++ {
		conn, err := net.Dial("tcp", os.Args[2])
		for err != nil {
			time.Sleep(50 * time.Millisecond)
			conn, err = net.Dial("tcp", os.Args[2])
		}
		links <- &link{conn, bufio.NewReader(conn)}
	}
	// steps of computing in a millisecond
	x, begin := uint32(1), time.Now()
	for i := 0; i < 20000000; i++ {
		x = x*69069 + 1
	}
	perMs := 20000000 / (float64(time.Since(begin).Microseconds()) / 1000)
	var lock sync.Mutex
	var count int64
	value := strings.Repeat("v", 16000)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		y := x
		for i := 0; i < int(perMs*(handler+.3)); i++ {
			y = y*69069 + 1
		}
		if hot {
			lock.Lock()
			defer lock.Unlock()
		}
		one := <-links
		defer func() { links <- one }()
		key := fmt.Sprintf("k%d", atomic.AddInt64(&count, 1)%1000)
		err := one.ask("SET", key, value)
		if err == nil {
			err = one.ask("GET", key)
		}
		if err == nil && down != "" {
			var answer *http.Response
			if answer, err = http.Get("http://" + down + "/"); err == nil {
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprintf(w, "done %d %s", y, value)
	})
	panic(http.ListenAndServe("0.0.0.0:"+os.Args[1], nil))
}
