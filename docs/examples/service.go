// A whole service in Go 1.18 or later. Call your agent in think():
//
//	SERVICE_KEY=0123456789abcdef PORT=8000 go run service.go

package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const kept = 10 * time.Minute // how long the events of a run are kept after its end
const maxThreads = 10_000     // after that, the oldest thread is forgotten
const maxMessages = 100       // of a thread

var mutex sync.Mutex               // guards the threads, their messages and their runs
var threads = map[string]*thread{} // by their ids
var ids []string                   // the same ids, the oldest first

type object map[string]any

type message struct{ role, content string }

// Your agent. It gets the messages of the thread, of which the last one is the new
// prompt. It reports its progress, and returns the reply or an error.
func think(messages []message, tell func(node, status string)) (string, error) {
	var prompts []string
	for _, said := range messages {
		if said.role == "user" {
			prompts = append(prompts, said.content)
		}
	}
	for _, word := range strings.Fields(prompts[len(prompts)-1]) {
		tell("read", word)
		time.Sleep(500 * time.Millisecond)
	}
	return "You said: " + strings.Join(prompts, ", "), nil
}

type thread struct {
	messages []message
	runs     map[string]*run
}

// Adds a message, and returns those that are kept.
func (t *thread) remember(role, content string) []message {
	mutex.Lock()
	defer mutex.Unlock()
	t.messages = append(t.messages, message{role, content})
	if len(t.messages) > maxMessages {
		t.messages = t.messages[1:]
	}
	return append([]message{}, t.messages...)
}

func createThread() string {
	id := newID()
	mutex.Lock()
	defer mutex.Unlock()
	threads[id] = &thread{runs: map[string]*run{}}
	ids = append(ids, id)
	if len(ids) > maxThreads {
		delete(threads, ids[0])
		ids = ids[1:]
	}
	return id
}

func (t *thread) start(prompt string) string {
	messages := t.remember("user", prompt)
	id, started := newID(), &run{changed: make(chan struct{})}
	mutex.Lock()
	defer mutex.Unlock()
	t.runs[id] = started
	go func() {
		started.execute(t, messages)
		time.Sleep(kept)
		mutex.Lock()
		defer mutex.Unlock()
		delete(t.runs, id)
	}()
	return id
}

type run struct {
	mutex   sync.Mutex
	events  []string
	isOver  bool
	changed chan struct{} // closed, and replaced, with each event
}

func (r *run) send(event object, isLast bool) {
	data, _ := json.Marshal(event)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.events = append(r.events, string(data))
	r.isOver = isLast
	close(r.changed)
	r.changed = make(chan struct{})
}

// Runs the agent in the background, whoever is connected.
func (r *run) execute(t *thread, messages []message) {
	defer func() {
		if cause := recover(); cause != nil {
			r.send(object{"event": "error", "message": fmt.Sprint(cause)}, true)
		}
	}()
	reply, err := think(messages, func(node, status string) {
		r.send(object{"event": "progress", "node": node, "status": status}, false)
	})
	if err != nil {
		panic(err)
	}
	t.remember("assistant", reply)
	state := object{"explanation": reply}
	r.send(object{"event": "complete", "instructorState": state}, true)
}

// The number of events that a client has. An id that is not known counts as none.
func (r *run) position(lastEventID string) (position uint64, isAll bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	all := uint64(len(r.events))
	position, err := strconv.ParseUint(lastEventID, 10, 32)
	if err != nil || position > all {
		position = 0
	}
	return position, r.isOver && position == all
}

func (r *run) follow(w http.ResponseWriter, request *http.Request) {
	position, isAll := r.position(request.Header.Get("Last-Event-ID"))
	if isAll {
		w.WriteHeader(http.StatusNoContent) // There is nothing more.
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	for {
		r.mutex.Lock()
		events, isOver, changed := r.events, r.isOver, r.changed
		r.mutex.Unlock()
		for ; position < uint64(len(events)); position++ {
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", position+1, events[position])
		}
		w.(http.Flusher).Flush()
		if isOver {
			return
		}
		select {
		case <-changed:
		case <-time.After(15 * time.Second):
			fmt.Fprint(w, ": working\n\n")
		case <-request.Context().Done():
			return
		}
	}
}

func newID() string {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	return fmt.Sprintf("%x", bytes)
}

func handle(w http.ResponseWriter, request *http.Request) {
	answer := func(status int, value object) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(value)
	}
	refuse := func(status int, message string) { answer(status, object{"message": message}) }

	key := request.Header.Get("X-API-Key")
	if key == "" || key != os.Getenv("SERVICE_KEY") {
		refuse(401, "Unknown key")
		return
	}
	// /threads, /threads/{thread}/runs, /threads/{thread}/runs/{run}/stream
	path := strings.Split(request.URL.Path, "/")
	switch route := request.Method + " " + path[len(path)-1]; {
	case len(path) == 2 && route == "POST threads":
		answer(201, object{"thread_id": createThread()})

	case len(path) == 4 && route == "POST runs":
		var body struct{ Prompt string }
		err := json.NewDecoder(request.Body).Decode(&body)
		if err != nil || body.Prompt == "" {
			refuse(400, "No prompt")
			return
		}
		mutex.Lock()
		found := threads[path[2]]
		mutex.Unlock()
		if found == nil {
			refuse(404, "No such thread")
			return
		}
		answer(201, object{"run_id": found.start(body.Prompt)})

	case len(path) == 6 && route == "GET stream":
		var found *run
		mutex.Lock()
		if t := threads[path[2]]; t != nil {
			found = t.runs[path[4]]
		}
		mutex.Unlock()
		if found == nil {
			refuse(404, "No such run")
			return
		}
		found.follow(w, request)

	default:
		refuse(404, "No such path")
	}
}

func main() {
	address := "127.0.0.1:" + os.Getenv("PORT")
	log.Fatal(http.ListenAndServe(address, http.HandlerFunc(handle)))
}
