"""Node on a pseudo-terminal: lines are edited, keys come one by one, and the window changes its size."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


class Terminal:
    def __init__(self, script):
        self.said = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp("node", ["node", "-e", script])

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def write(self, text):
        os.write(self.fd, text.encode())

    def until(self, text, seconds=10):
        """Reads until a text has come, and forgets what came before its end."""
        end = time.monotonic() + seconds
        while text not in self.said:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"{text!r} did not come, but {self.said[-300:]!r}")
            try:
                self.said += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"it ended before {text!r}, with {self.said[-300:]!r}") from None
        self.said = self.said[self.said.index(text) + len(text):]

    def lines_are_edited(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ICANON)

    def end(self):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError("it does not end")


def readline():
    terminal = Terminal("""
        const r = require('readline').createInterface({ input: process.stdin, output: process.stdout, prompt: 'name? ' });
        r.on('line', (line) => { console.log('<' + line + '>'); r.prompt(); });
        r.on('SIGINT', () => console.log('interrupted'));
        r.on('close', () => console.log('closed'));
        r.prompt();""")
    terminal.until("name? ")
    assert not terminal.lines_are_edited(), "the terminal is not raw"
    terminal.write("helo\x1b[Dl\r")
    terminal.until("<hello>")
    terminal.write("\x1b[A!\r")
    terminal.until("<hello!>")
    terminal.write("\x03")
    terminal.until("interrupted")
    terminal.write("\x04")
    terminal.until("closed")
    assert terminal.end() == 0


def keys():
    terminal = Terminal("""
        process.stdin.setRawMode(true);
        process.stdin.on('data', (key) => {
            console.log('key ' + key.toString('hex'));
            if (key[0] === 0x71) { process.stdin.setRawMode(false); console.log('raw ' + process.stdin.isRaw); process.stdin.destroy(); }
        });
        console.log('up');""")
    terminal.until("up")
    for key, said in [("a", "key 61"), ("\x03", "key 03"), ("\x1b[A", "key 1b5b41"), ("é", "key c3a9")]:
        terminal.write(key)
        terminal.until(said)
    terminal.write("q")
    terminal.until("raw false")
    assert terminal.lines_are_edited()
    assert terminal.end() == 0


def sizes():
    terminal = Terminal("""
        process.stdout.on('resize', () => console.log(process.stdout.getWindowSize().join('x')));
        console.log('up ' + process.stdout.isTTY); process.stdin.once('data', () => process.exit(4));""")
    terminal.until("up true")
    for rows, columns in [(30, 100), (20, 70)]:
        terminal.size(rows, columns)
        terminal.until(f"{columns}x{rows}")
    terminal.write("\n")
    assert terminal.end() == 4


def much():
    terminal = Terminal("for (let i = 0; i < 20000; i++) console.log('line ' + i); process.exit(0)")
    terminal.until("line 19999\r\n", 20)
    assert terminal.end() == 0


def restored():
    terminal = Terminal("process.stdin.setRawMode(true); console.log('up'); process.stdin.on('data', () => { throw new Error('on purpose'); })")
    terminal.until("up")
    terminal.write("x")
    terminal.until("on purpose")
    # It is put back before the end, which is seen while the master is open.
    end = time.monotonic() + 5
    while not terminal.lines_are_edited() and time.monotonic() < end:
        time.sleep(0.01)
    assert terminal.lines_are_edited(), "the terminal is left raw"
    assert terminal.end() == 1


def interrupted():
    terminal = Terminal("console.log('up'); setInterval(() => {}, 1000)")
    terminal.until("up")
    terminal.write("\x03")
    assert terminal.end() == -signal.SIGINT


for name, run in [("a line is edited on a terminal", readline), ("keys one by one on a terminal", keys),
                  ("the size of a terminal", sizes), ("twenty thousand lines on a terminal", much),
                  ("a terminal is put back after an exception", restored), ("Ctrl+C ends a program on a terminal", interrupted)]:
    try:
        run()
        print(f"ok - {name}")
    except (AssertionError, OSError) as error:
        print(f"not ok - {name}: {error!r}")
sys.exit(0)
