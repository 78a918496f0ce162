/* A server and its clients, each a process, under load for so many seconds: connections that come and go, slow readers and writers,
 * silent ones, halves, resets, floods of tiny writes. Every byte that comes back is checked. At the end nothing is open, memory has
 * not grown, and a second in which nothing happens has no turns. scripts/soak runs it: soak SECONDS CONNECTIONS TIMERS [fault]. */
#define _GNU_SOURCE
#include "check.h"
#include "counts.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORTS = 8, ROOM = 65536, HIGH_WATER = 65536, BATCH = 200, MOST_IDLE_TURNS = 4 };
enum kind { TALKS, READS_SLOWLY, WRITES_SLOWLY, IS_SILENT, IS_HALF, RESETS, FLOODS, KINDS };

static uv_loop_t loop;
static char room[ROOM];
static int ports[PORTS];
static const char* fault = "";
static unsigned long long bytes, ended;
static unsigned long state = 1;

static unsigned draw(unsigned limit) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (unsigned) (state >> 33) % limit;
}

typedef struct {
  uv_write_t req;
  char bytes[];
} write_t;

/* The memory of this process, in KiB. */
static long memory(void) {
  size_t size = 0;
  CHECK(uv_resident_set_memory(&size) == 0);
  return (long) (size / 1024);
}

/* How often the loop turns in a second in which nothing happens. */
static void stop_waiting(uv_timer_t* timer) { uv_stop(timer->loop); }

static void spin(uv_idle_t* idle) { (void) idle; }

static int idle_turns(void) {
  uv_metrics_t before, after;
  uv_timer_t timer;
  uv_idle_t spinner;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, stop_waiting, 1000, 0) == 0);
  CHECK(uv_idle_init(&loop, &spinner) == 0);
  if (strcmp(fault, "spin") == 0) CHECK(uv_idle_start(&spinner, spin) == 0);
  CHECK(uv_metrics_info(&loop, &before) == 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_metrics_info(&loop, &after) == 0);
  uv_close((uv_handle_t*) &timer, NULL);
  uv_close((uv_handle_t*) &spinner, NULL);
  uv_run(&loop, UV_RUN_NOWAIT);
  return (int) (after.loop_count - before.loop_count);
}

static void close_one(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

/* What is said at the end, and checked. `half` is the memory at half time. */
static void finish(const char* who, int descriptors, long half) {
  int turns = idle_turns(), still_open;
  long now = memory();
  uv_walk(&loop, close_one, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&loop) == 0);
  uv_library_shutdown();
  still_open = count_descriptors() - descriptors;
  printf("%s: %llu connections, %llu bytes, %ld KiB at half time, %ld at the end, %d descriptors left, %d turns idle\n", who, ended, bytes,
         half, now, still_open, turns);
  CHECK(still_open == 0 && turns <= MOST_IDLE_TURNS && now <= half + half / 2 + 16384);
}

/* The server: what comes goes back. */

static int open_connections;
static unsigned seconds;
static long server_half;

static void on_gone(uv_handle_t* handle) {
  open_connections--;
  ended++;
  free(handle);
}

static void alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  *buf = uv_buf_init(room, ROOM);
}

static void end(uv_stream_t* stream) {
  if (!uv_is_closing((uv_handle_t*) stream)) uv_close((uv_handle_t*) stream, on_gone);
}

static void on_ended(uv_shutdown_t* req, int status) {
  (void) status;
  end(req->handle);
  free(req);
}

static void echo(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf);

static void on_echoed(uv_write_t* req, int status) {
  uv_stream_t* stream = req->handle;
  free(req);
  if (status < 0) end(stream);
  else if (!uv_is_closing((uv_handle_t*) stream) && stream->write_queue_size < HIGH_WATER && stream->data != stream)
    uv_read_start(stream, alloc, echo);
}

static void echo(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  uv_shutdown_t* shutdown;
  write_t* write;
  uv_buf_t copy;
  if (nread > 0) {
    write = malloc(sizeof(*write) + nread);
    memcpy(write->bytes, buf->base, nread);
    bytes += nread;
    if (strcmp(fault, "garble") == 0 && draw(1000) == 0) write->bytes[0]++;
    copy = uv_buf_init(write->bytes, (unsigned) nread);
    CHECK(uv_write(&write->req, stream, &copy, 1, on_echoed) == 0);
    if (stream->write_queue_size >= HIGH_WATER) uv_read_stop(stream);
  } else if (nread < 0) {
    /* It is not read any more. */
    stream->data = stream;
    shutdown = malloc(sizeof(*shutdown));
    if (nread != UV_EOF || uv_shutdown(shutdown, stream, on_ended) != 0) {
      free(shutdown);
      end(stream);
    }
  }
}

static uv_timer_t server_half_time;

static void note_memory(uv_timer_t* timer) {
  (void) timer;
  server_half = memory();
}

static void on_connection(uv_stream_t* server, int status) {
  uv_tcp_t* tcp = calloc(1, sizeof(*tcp));
  CHECK(status == 0 && uv_tcp_init(&loop, tcp) == 0);
  if (open_connections++ == 0 && server_half == 0)
    CHECK(uv_timer_start(&server_half_time, note_memory, seconds * 500, 0) == 0);
  if (uv_accept(server, (uv_stream_t*) tcp) != 0) end((uv_stream_t*) tcp);
  else CHECK(uv_read_start((uv_stream_t*) tcp, alloc, echo) == 0);
}

static void at_the_end(uv_signal_t* signals, int number) {
  (void) number;
  uv_stop(signals->loop);
}

static void serve(int out) {
  static uv_tcp_t servers[PORTS];
  uv_signal_t signals;
  struct sockaddr_in address;
  int i, size, descriptors = count_descriptors();
  CHECK(uv_loop_init(&loop) == 0 && uv_signal_init(&loop, &signals) == 0 && uv_timer_init(&loop, &server_half_time) == 0);
  CHECK(uv_signal_start(&signals, at_the_end, SIGTERM) == 0);
  for (i = 0; i < PORTS; i++) {
    size = sizeof(address);
    CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0 && uv_tcp_init(&loop, &servers[i]) == 0);
    CHECK(uv_tcp_bind(&servers[i], (struct sockaddr*) &address, 0) == 0);
    CHECK(uv_listen((uv_stream_t*) &servers[i], 4096, on_connection) == 0);
    CHECK(uv_tcp_getsockname(&servers[i], (struct sockaddr*) &address, &size) == 0);
    ports[i] = ntohs(address.sin_port);
  }
  CHECK(write(out, ports, sizeof(ports)) == sizeof(ports));
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(open_connections == 0);
  finish("server", descriptors, server_half);
}

/* The clients. */

typedef struct {
  uv_tcp_t tcp;
  uv_timer_t timer;
  uv_connect_t connect;
  uv_shutdown_t shutdown;
  enum kind kind;
  unsigned seed, sent, received, wanted;
  int handles;
} client_t;

static int is_over, alive, to_start;
static unsigned long long kinds[KINDS];

static char byte_at(const client_t* client, unsigned place) { return (char) (client->seed + place * 131 + (place >> 8) * 17); }

static void begin_client(void);

static void on_client_gone(uv_handle_t* handle) {
  client_t* client = handle->data;
  if (--client->handles > 0) return;
  free(client);
  ended++;
  alive--;
  if (!is_over) begin_client();
}

static void give_up(client_t* client) {
  if (uv_is_closing((uv_handle_t*) &client->timer)) return;
  uv_close((uv_handle_t*) &client->timer, on_client_gone);
  if (client->kind == RESETS && uv_tcp_close_reset(&client->tcp, on_client_gone) == 0) return;
  uv_close((uv_handle_t*) &client->tcp, on_client_gone);
}

static void on_sent(uv_write_t* req, int status) {
  client_t* client = req->handle->data;
  CHECK(status == 0 || client->kind == RESETS);
  free(req);
}

static void say(client_t* client, unsigned size) {
  write_t* write = malloc(sizeof(*write) + size);
  uv_buf_t buf = uv_buf_init(write->bytes, size);
  unsigned i;
  for (i = 0; i < size; i++) write->bytes[i] = byte_at(client, client->sent + i);
  client->sent += size;
  CHECK(uv_write(&write->req, (uv_stream_t*) &client->tcp, &buf, 1, on_sent) == 0);
}

static void on_said_all(uv_shutdown_t* req, int status) {
  (void) req;
  CHECK(status == 0);
}

static void say_no_more(client_t* client) {
  CHECK(uv_shutdown(&client->shutdown, (uv_stream_t*) &client->tcp, on_said_all) == 0);
}

static void alloc_little(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  client_t* client = handle->data;
  (void) size;
  *buf = uv_buf_init(room, client->kind == READS_SLOWLY ? 4096 : ROOM);
}

static void hear(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  client_t* client = stream->data;
  ssize_t i;
  if (nread == 0) return;
  if (nread < 0) {
    CHECK(client->kind == RESETS || (nread == UV_EOF && client->received == client->sent && client->sent == client->wanted));
    give_up(client);
    return;
  }
  for (i = 0; i < nread; i++) CHECK(buf->base[i] == byte_at(client, client->received + (unsigned) i));
  bytes += nread;
  client->received += (unsigned) nread;
  if (client->kind == READS_SLOWLY) uv_read_stop(stream);
  if (client->received < client->sent || client->kind == WRITES_SLOWLY || client->kind == IS_HALF || client->kind == RESETS) return;
  if (client->sent == client->wanted) say_no_more(client);
  else say(client, client->wanted - client->sent < 4096 ? client->wanted - client->sent : 1 + draw(4096));
}

static void on_client_timer(uv_timer_t* timer) {
  client_t* client = timer->data;
  unsigned size = 1 + draw(7);
  int result;
  switch (client->kind) {
    case READS_SLOWLY:
      /* It may still wait for what it has not read. */
      result = uv_read_start((uv_stream_t*) &client->tcp, alloc_little, hear);
      CHECK(result == 0 || result == UV_EALREADY);
      break;
    case WRITES_SLOWLY:
      say(client, size < client->wanted - client->sent ? size : client->wanted - client->sent);
      if (client->sent < client->wanted) break;
      uv_timer_stop(timer);
      say_no_more(client);
      break;
    case IS_SILENT: say_no_more(client); break;
    default: give_up(client);
  }
}

static void on_connect(uv_connect_t* req, int status) {
  client_t* client = req->handle->data;
  unsigned i;
  CHECK(status == 0 && uv_read_start(req->handle, alloc_little, hear) == 0);
  switch (client->kind) {
    case TALKS: say(client, 1); break;
    case READS_SLOWLY:
      for (i = 0; i < 16; i++) say(client, client->wanted / 16);
      uv_timer_start(&client->timer, on_client_timer, 5, 5);
      break;
    case WRITES_SLOWLY: uv_timer_start(&client->timer, on_client_timer, 20, 20); break;
    case IS_SILENT: uv_timer_start(&client->timer, on_client_timer, 500 + draw(1500), 0); break;
    case IS_HALF:
      say(client, client->wanted);
      say_no_more(client);
      break;
    case RESETS:
      say(client, client->wanted);
      uv_timer_start(&client->timer, on_client_timer, draw(20), 0);
      break;
    default:
      for (i = 0; i < client->wanted; i++) say(client, 1);
  }
}

static void begin_client(void) {
  static const unsigned wanted[KINDS] = {16384, 65536 * 4, 100, 0, 1000, 10000, 200};
  client_t* client = calloc(1, sizeof(*client));
  struct sockaddr_in address;
  client->kind = draw(KINDS);
  client->seed = draw(1u << 30);
  client->wanted = wanted[client->kind];
  client->handles = 2;
  client->tcp.data = client->timer.data = client;
  alive++;
  kinds[client->kind]++;
  CHECK(uv_tcp_init(&loop, &client->tcp) == 0 && uv_timer_init(&loop, &client->timer) == 0);
  client->tcp.data = client->timer.data = client;
  CHECK(uv_ip4_addr("127.0.0.1", ports[draw(PORTS)], &address) == 0);
  CHECK(uv_tcp_connect(&client->connect, &client->tcp, (struct sockaddr*) &address, on_connect) == 0);
}

static void begin_some(uv_timer_t* timer) {
  int i;
  for (i = 0; i < BATCH && to_start > 0; i++, to_start--) begin_client();
  if (to_start == 0) uv_timer_stop(timer);
}

static long client_half;
static void note_half(uv_timer_t* timer) { (void) timer, client_half = memory(); }
static void on_time_over(uv_timer_t* timer) { (void) timer, is_over = 1; }

static void be_clients(int descriptors, int connections) {
  uv_timer_t starter, half, over;
  to_start = connections;
  CHECK(uv_loop_init(&loop) == 0 && uv_timer_init(&loop, &starter) == 0 && uv_timer_start(&starter, begin_some, 0, 10) == 0);
  CHECK(uv_timer_init(&loop, &half) == 0 && uv_timer_start(&half, note_half, seconds * 500, 0) == 0);
  CHECK(uv_timer_init(&loop, &over) == 0 && uv_timer_start(&over, on_time_over, seconds * 1000, 0) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && alive == 0);
  printf("talk %llu, read slowly %llu, write slowly %llu, silent %llu, halves %llu, resets %llu, floods %llu\n", kinds[0], kinds[1],
         kinds[2], kinds[3], kinds[4], kinds[5], kinds[6]);
  finish("clients", descriptors, client_half);
}

/* Timers: each is called once, never early, in the order of what they are due at. */

static uint64_t latest;
static int timers_called;

static void on_one(uv_timer_t* timer) {
  uint64_t due = (uint64_t) (size_t) timer->data;
  CHECK(due >= latest && uv_now(&loop) >= due);
  latest = due;
  timers_called++;
}

static void many_timers(int count) {
  uv_timer_t* timers = calloc(count, sizeof(*timers));
  int i;
  CHECK(timers != NULL && uv_loop_init(&loop) == 0);
  for (i = 0; i < count; i++) {
    unsigned time = draw(2000);
    CHECK(uv_timer_init(&loop, &timers[i]) == 0 && uv_timer_start(&timers[i], on_one, time, 0) == 0);
    timers[i].data = (void*) (size_t) (uv_now(&loop) + time);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && timers_called == count);
  for (i = 0; i < count; i++) uv_close((uv_handle_t*) &timers[i], NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&loop) == 0);
  free(timers);
  printf("timers: %d, each once, in order, none early; %ld KiB after\n", count, memory());
}

int main(int argc, char** argv) {
  int ends[2], status = 0, descriptors;
  pid_t server;
  CHECK(argc > 3);
  seconds = (unsigned) atoi(argv[1]);
  if (argc > 4) fault = argv[4];
  signal(SIGPIPE, SIG_IGN);
  CHECK(pipe(ends) == 0 && fflush(stdout) == 0);
  server = fork();
  if (server == 0) {
    /* Not without its clients. */
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    serve(ends[1]);
    return 0;
  }
  CHECK(server > 0 && read(ends[0], ports, sizeof(ports)) == sizeof(ports));
  descriptors = count_descriptors();
  many_timers(atoi(argv[3]));
  if (strcmp(fault, "leak") == 0) CHECK(dup(1) >= 0);
  be_clients(descriptors, atoi(argv[2]));
  CHECK(kill(server, SIGTERM) == 0 && waitpid(server, &status, 0) == server && status == 0);
  puts("ok: each byte came back");
  return 0;
}
