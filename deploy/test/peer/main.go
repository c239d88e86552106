// Command peer is what the test cluster's own pods run: it waits, as the container
// that holds a pod together does, or it is a server to probe. As a server it logs
// what net/http logs, and each client that leaves before its answer.
//
//	peer                                       waits until it is told to end
//	peer serve --speaks=http|tls|nothing ...   is a webhook, or a solver of ACME challenges
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "serve" {
		wait()
		return
	}
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	listen := flags.String("listen", ":8080", "address to listen on")
	speaks := flags.String("speaks", "http", "http, tls, or nothing: closes every connection")
	folder := flags.String("certificate", "/tls", "folder of tls.crt and tls.key")
	path := flags.String("path", "", "a path that is answered by --body")
	body := flags.String("body", "", "see --path")
	delay := flags.Duration("delay", 0, "how long the answer to --path takes")
	_ = flags.Parse(os.Args[2:]) // it exits
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", admit)
	if *path != "" {
		mux.HandleFunc(*path, func(w http.ResponseWriter, r *http.Request) { answer(w, r, *body, *delay) })
	}
	switch *speaks {
	case "http":
		err = http.Serve(listener, mux)
	case "tls":
		err = http.ServeTLS(listener, mux, *folder+"/tls.crt", *folder+"/tls.key")
	case "nothing":
		err = closeAll(listener)
	default:
		err = fmt.Errorf("--speaks=%s: write http, tls or nothing", *speaks)
	}
	log.Fatal(err)
}

func wait() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
}

func answer(w http.ResponseWriter, r *http.Request, body string, delay time.Duration) {
	select {
	case <-time.After(delay):
		fmt.Fprint(w, body)
	case <-r.Context().Done():
		log.Printf("%s has left", r.RemoteAddr)
	}
}

// closeAll closes each connection once the client has begun to speak, as a server
// does that gives up.
func closeAll(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 64<<10))
		}()
	}
}

// admit allows whatever an API server asks (admission.k8s.io/v1).
func admit(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct{ UID string }
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true}}`, review.Request.UID)
}
