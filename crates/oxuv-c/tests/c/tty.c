/* Terminals: how they are opened, their modes and their size. */
#define _GNU_SOURCE
#include "pty.h"

#include <sys/time.h>
#include <sys/wait.h>

#define BLOCKING 0x100000

static void others_do_not_find_a_terminal_non_blocking(void) {
  int master, slave, shared, own;
  uv_tty_t* tty;
  new_pty(&master, &slave);
  shared = dup(slave);
  tty = new_tty(slave);
  CHECK(strcmp(uv_handle_type_name(uv_handle_get_type((uv_handle_t*) tty)), "tty") == 0);
  CHECK(tty->type == UV_TTY && tty->write_queue_size == 0 && !uv_is_active((uv_handle_t*) tty));
  CHECK(!(tty->flags & BLOCKING));
  CHECK(uv_fileno((uv_handle_t*) tty, &own) == 0);
  CHECK(own == tty->io_watcher.fd && own != slave && own != shared);
  CHECK(is_nonblocking(own) && (fcntl(own, F_GETFD) & FD_CLOEXEC));
  CHECK(!is_nonblocking(shared));
  /* The number given stands for the new one, and is still the caller's. */
  CHECK(is_nonblocking(slave) && (fcntl(slave, F_GETFD) & FD_CLOEXEC));
  close_tty(tty);
  CHECK(has_closed(own) && !has_closed(slave) && !has_closed(shared));
  CHECK(uv_fileno((uv_handle_t*) tty, &own) == UV_EBADF);
  run_dry();
  close(slave);
  close(shared);
  close(master);
}

static void masters_stay_as_they_are(void) {
  int master, slave;
  uv_tty_t* tty;
  new_pty(&master, &slave);
  tty = new_tty(master);
  CHECK(tty->io_watcher.fd == master && (tty->flags & BLOCKING) && !is_nonblocking(master));
  CHECK(uv_is_readable((uv_stream_t*) tty) && uv_is_writable((uv_stream_t*) tty));
  close_tty(tty);
  CHECK(has_closed(master));
  run_dry();
  close(slave);
}

static void the_way_it_was_opened_says_what_it_is_for(void) {
  int master, slave, fd, i;
  int ways[] = {O_RDONLY, O_WRONLY, O_RDWR};
  new_pty(&master, &slave);
  for (i = 0; i < 3; i++) {
    uv_tty_t* tty;
    fd = open(ptsname(master), ways[i] | O_NOCTTY);
    tty = new_tty(fd);
    CHECK(uv_is_readable((uv_stream_t*) tty) == (ways[i] != O_WRONLY));
    CHECK(uv_is_writable((uv_stream_t*) tty) == (ways[i] != O_RDONLY));
    CHECK(uv_read_start((uv_stream_t*) tty, give_memory, gather) == (ways[i] == O_WRONLY ? UV_ENOTCONN : 0));
    CHECK((fcntl(tty->io_watcher.fd, F_GETFL) & O_ACCMODE) == ways[i]);
    close_tty(tty);
    CHECK(!uv_is_readable((uv_stream_t*) tty) && !uv_is_writable((uv_stream_t*) tty));
    close(fd);
  }
  run_dry();
  close(slave);
  close(master);
}

static void pipes_in_the_place_of_a_terminal(void) {
  int fds[2];
  int columns, rows;
  uv_tty_t* tty;
  CHECK(pipe(fds) == 0);
  tty = new_tty(fds[0]);
  CHECK(tty->io_watcher.fd == fds[0] && is_nonblocking(fds[0]) && !(tty->flags & BLOCKING));
  CHECK(uv_is_readable((uv_stream_t*) tty) && !uv_is_writable((uv_stream_t*) tty));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == UV_ENOTTY);
  CHECK(uv_tty_get_winsize(tty, &columns, &rows) == UV_ENOTTY);
  start_gathering(tty);
  CHECK(write(fds[1], "abc", 3) == 3);
  close(fds[1]);
  run_dry();
  CHECK(has_read("abc") && end == UV_EOF);
  close_tty(tty);
  CHECK(has_closed(fds[0]));
  run_dry();
}

static void what_is_refused(void) {
  uv_tty_t tty;
  int fd = open("/dev/null", O_RDWR);
  CHECK(uv_tty_init(&loop, &tty, fd, 0) == UV_EINVAL);
  CHECK(!has_closed(fd));
  close(fd);
  CHECK(uv_tty_init(&loop, &tty, fd, 0) == UV_EINVAL);
  fd = open("/proc/self/status", O_RDONLY);
  CHECK(uv_tty_init(&loop, &tty, fd, 0) == UV_EINVAL);
  close(fd);
  CHECK(uv_tty_init(&loop, &tty, -1, 0) == UV_EINVAL);
  CHECK(!uv_loop_alive(&loop));
}

#ifndef ON_LIBUV
static void ready(uv_poll_t* poll, int status, int events) {
  (void) poll;
  (void) status;
  (void) events;
}

static void a_descriptor_that_another_handle_waits_for(void) {
  int master, slave;
  uv_tty_t* tty = (uv_tty_t*) dirty(sizeof(*tty));
  uv_poll_t* poll = (uv_poll_t*) dirty(sizeof(*poll));
  new_pty(&master, &slave);
  CHECK(uv_poll_init(&loop, poll, slave) == 0 && uv_poll_start(poll, UV_READABLE, ready) == 0);
  CHECK(uv_tty_init(&loop, tty, slave, 0) == UV_EEXIST);
  CHECK(!has_closed(slave));
  CHECK(uv_poll_stop(poll) == 0);
  CHECK(uv_tty_init(&loop, tty, slave, 0) == 0);
  uv_close((uv_handle_t*) poll, free_handle);
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}
#endif

static void standard_streams_stay_open(void) {
  int master, slave, standard = dup(0);
  uv_tty_t* tty;
  new_pty(&master, &slave);
  CHECK(dup2(slave, 0) == 0);
  close(slave);
  tty = new_tty(0);
  CHECK(tty->io_watcher.fd != 0);
  close_tty(tty);
  CHECK(!has_closed(0));
  CHECK(dup2(master, 0) == 0); /* not opened anew */
  tty = new_tty(0);
  CHECK(tty->io_watcher.fd == 0);
  close_tty(tty);
  CHECK(!has_closed(0));
  run_dry();
  CHECK(dup2(standard, 0) == 0);
  close(standard);
  close(master);
}

static struct termios raw(struct termios settings) {
  settings.c_iflag &= ~(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  settings.c_oflag |= ONLCR;
  settings.c_cflag |= CS8;
  settings.c_lflag &= ~(ECHO | ICANON | IEXTEN | ISIG);
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  return settings;
}

static struct termios binary(struct termios settings) {
  cfmakeraw(&settings);
  return settings;
}

static void modes_are_made_from_how_the_terminal_was_found(void) {
  int master, slave;
  uv_tty_t* tty;
  struct termios found, other;
  new_pty(&master, &slave);
  found = settings_of(slave);
  found.c_iflag |= INPCK | ISTRIP | BRKINT;
  found.c_oflag &= ~ONLCR;
  found.c_cc[VMIN] = 7;
  CHECK(tcsetattr(slave, TCSANOW, &found) == 0);
  found = settings_of(slave);
  CHECK(found.c_lflag & ICANON);
  tty = new_tty(slave);
  CHECK(same(settings_of(slave), found));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_NORMAL) == 0);
  CHECK(same(settings_of(slave), found));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == 0);
  CHECK(same(settings_of(slave), raw(found)));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_IO) == 0);
  CHECK(same(settings_of(slave), binary(found)));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW_VT) == 0);
  CHECK(same(settings_of(slave), raw(found)));
  CHECK(uv_tty_set_mode(tty, (uv_tty_mode_t) 4) == UV_EINVAL);
  CHECK(uv_tty_set_mode(tty, (uv_tty_mode_t) -1) == UV_EINVAL);
  CHECK(same(settings_of(slave), raw(found)));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_NORMAL) == 0);
  CHECK(same(settings_of(slave), found));

  /* What others change is kept by a mode that is set already, and found by the next that is set from normal. */
  other = found;
  other.c_oflag &= ~OPOST;
  CHECK(tcsetattr(slave, TCSANOW, &other) == 0);
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_NORMAL) == 0);
  CHECK(same(settings_of(slave), other));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == 0);
  CHECK(same(settings_of(slave), raw(other)));
  CHECK(tcsetattr(slave, TCSANOW, &found) == 0);
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == 0);
  CHECK(same(settings_of(slave), found));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_NORMAL) == 0);
  CHECK(same(settings_of(slave), other));

  close_tty(tty);
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == UV_EBADF);
  run_dry();
  close(slave);
  close(master);
}

static void the_first_in_a_mode_is_given_back_on_close_and_others_are_not(void) {
  int master[2], slave[2], i;
  uv_tty_t* tty[2];
  struct termios found[2];
  CHECK(uv_tty_reset_mode() == 0); /* nothing to do */
  for (i = 0; i < 2; i++) {
    new_pty(&master[i], &slave[i]);
    found[i] = settings_of(slave[i]);
    tty[i] = new_tty(slave[i]);
    CHECK(uv_tty_set_mode(tty[i], UV_TTY_MODE_RAW) == 0);
  }
  errno = 4321;
  CHECK(uv_tty_reset_mode() == 0 && errno == 4321);
  CHECK(same(settings_of(slave[0]), found[0]));
  CHECK(same(settings_of(slave[1]), raw(found[1])));
  /* The handle thinks that it is raw. */
  CHECK(uv_tty_set_mode(tty[0], UV_TTY_MODE_RAW) == 0);
  CHECK(same(settings_of(slave[0]), found[0]));
  CHECK(uv_tty_set_mode(tty[0], UV_TTY_MODE_IO) == 0);
  CHECK(same(settings_of(slave[0]), binary(found[0])));
  for (i = 0; i < 2; i++) close_tty(tty[i]);
  CHECK(same(settings_of(slave[0]), found[0]));
  CHECK(same(settings_of(slave[1]), raw(found[1])));
  CHECK(uv_tty_reset_mode() == 0);
  CHECK(same(settings_of(slave[1]), raw(found[1])));
  run_dry();
  for (i = 0; i < 2; i++) {
    close(slave[i]);
    close(master[i]);
  }
}

static volatile sig_atomic_t reset_said = 1;

static void reset(int signum) {
  (void) signum;
  reset_said = uv_tty_reset_mode();
}

static void reset_at_exit(void) { uv_tty_reset_mode(); }

static void reset_in_a_signal_handler_and_at_exit(void) {
  int master, slave, status;
  uv_tty_t* tty;
  struct termios found;
  pid_t child;
  new_pty(&master, &slave);
  found = settings_of(slave);
  tty = new_tty(slave);
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_IO) == 0);
  CHECK(signal(SIGUSR1, reset) != SIG_ERR);
  CHECK(raise(SIGUSR1) == 0 && reset_said == 0);
  CHECK(same(settings_of(slave), found));
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == 0);
  CHECK(same(settings_of(slave), raw(found)));
  fflush(stdout);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(atexit(reset_at_exit) == 0);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(same(settings_of(slave), found));
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}

/* libuv#3645: signals without SA_RESTART. */
static volatile sig_atomic_t ticks;
static void tick(int signum) {
  (void) signum;
  ticks++;
}

static void modes_are_set_while_signals_come(void) {
  int master, slave, i;
  uv_tty_t* tty;
  struct sigaction action, old;
  struct itimerval interval = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
  memset(&action, 0, sizeof(action));
  action.sa_handler = tick;
  new_pty(&master, &slave);
  tty = new_tty(slave);
  CHECK(sigaction(SIGALRM, &action, &old) == 0 && setitimer(ITIMER_REAL, &interval, NULL) == 0);
  for (i = 0; i < 1000 || ticks < 20; i++)
    CHECK(uv_tty_set_mode(tty, i % 2 ? UV_TTY_MODE_NORMAL : UV_TTY_MODE_RAW) == 0);
  CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0 && sigaction(SIGALRM, &old, NULL) == 0);
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}

/* libuv PR 4945: a terminal that nobody reads what is printed on. */
static void a_mode_is_set_while_much_is_still_to_be_printed(void) {
  int master, slave;
  uv_tty_t* tty;
  uint64_t start;
  new_plain_pty(&master, &slave);
  tty = new_tty(slave);
  while (write(slave, bytes, 1000) > 0) {
  }
  CHECK(errno == EAGAIN);
  start = uv_hrtime();
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == 0);
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_NORMAL) == 0);
  CHECK(uv_hrtime() - start < 2000000000);
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}

static void the_size_of_the_window(void) {
  int master, slave, columns = -1, rows = -1;
  struct winsize size;
  uv_tty_t* tty;
  new_pty(&master, &slave);
  tty = new_tty(slave);
  CHECK(uv_tty_get_winsize(tty, &columns, &rows) == 0);
  CHECK(columns == 0 && rows == 0);
  memset(&size, 0, sizeof(size));
  size.ws_col = 80;
  size.ws_row = 25;
  CHECK(ioctl(master, TIOCSWINSZ, &size) == 0);
  CHECK(uv_tty_get_winsize(tty, &columns, &rows) == 0);
  CHECK(columns == 80 && rows == 25);
  close_tty(tty);
  columns = rows = 7;
  CHECK(uv_tty_get_winsize(tty, &columns, &rows) == UV_EBADF);
  CHECK(columns == 7 && rows == 7);
  run_dry();
  close(slave);
  close(master);
}

static void escape_sequences_are_nobodys_business(void) {
  uv_tty_vtermstate_t state = UV_TTY_UNSUPPORTED;
  uv_tty_set_vterm_state(UV_TTY_SUPPORTED);
  CHECK(uv_tty_get_vterm_state(&state) == UV_ENOTSUP);
  CHECK(state == UV_TTY_UNSUPPORTED);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  others_do_not_find_a_terminal_non_blocking();
  masters_stay_as_they_are();
  the_way_it_was_opened_says_what_it_is_for();
  pipes_in_the_place_of_a_terminal();
  what_is_refused();
#ifndef ON_LIBUV
  a_descriptor_that_another_handle_waits_for();
#endif
  standard_streams_stay_open();
  the_first_in_a_mode_is_given_back_on_close_and_others_are_not();
  modes_are_made_from_how_the_terminal_was_found();
  reset_in_a_signal_handler_and_at_exit();
  modes_are_set_while_signals_come();
  a_mode_is_set_while_much_is_still_to_be_printed();
  the_size_of_the_window();
  escape_sequences_are_nobodys_business();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}
