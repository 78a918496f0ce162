my $short = @*ARGS[0] eq 'short';
sub rounds($few, $many) { $short ?? $few !! $many }

sub check($name, &run) {
    my $done = start run();
    await Promise.anyof($done, Promise.in(100));
    my $why = do given $done.status { when Kept { '' }; when Broken { ~$done.cause }; default { 'not done in 100 seconds' } };
    say $why ?? "not ok - $name: { $why.subst(/\s+/, ' ', :g).substr(0, 400) }" !! "ok - $name";
}
sub same($a, $b) { die "{$a.raku} is not {$b.raku}" unless $a eqv $b }

check 'the library is in MoarVM', {
    my @seen = '/proc/self/maps'.IO.lines.map({ .words[5] // '' }).grep(/libuv/).unique;
    same @seen.join(' '), %*ENV<OXUV_LIBRARY>;
};

check 'promises and timers, in order', {
    my @order;
    my $lock = Lock.new;
    await (<30 10 20>.map: -> $ms { Promise.in($ms / 100).then({ $lock.protect: { @order.push($ms) } }) });
    same @order.join(' '), '10 20 30';
    my $ticks = 0;
    react { whenever Supply.interval(0.01) { done if ++$ticks == 20 } }
    same $ticks, 20;
};

check 'work on threads', {
    my $sum = [+] await (^rounds(100, 1000)).map: -> $n { start { [+] 1..$n } };
    same $sum, [+] (^rounds(100, 1000)).map: { $_ * ($_ + 1) div 2 };
};

check 'echo over TCP', {
    my $listener = IO::Socket::Async.listen('127.0.0.1', 0);
    my $tap = $listener.tap: -> $connection {
        $connection.Supply(:bin).tap: { $connection.write($_) }, done => { $connection.close };
    };
    my $port = await $tap.socket-port;
    await (1..rounds(10, 60)).map: -> $i {
        start {
            my $socket = await IO::Socket::Async.connect('127.0.0.1', $port);
            my $text = Blob.new: (($i + $_) % 256 for ^20000);
            my $got = Buf.new;
            my $enough = Promise.new;
            $socket.Supply(:bin).tap: { $got.append($_); $enough.keep if $got.elems == $text.elems };
            await $socket.write($text);
            await $enough;
            $socket.close;
            die 'other bytes came back' unless $got.list eqv $text.list;
        }
    };
    $tap.close;
};

check 'a connection that is refused', {
    my $tap = IO::Socket::Async.listen('127.0.0.1', 0).tap: -> $ { };
    my $port = await $tap.socket-port;
    $tap.close;
    my $refused = False;
    for ^20 {
        try { (await IO::Socket::Async.connect('127.0.0.1', $port)).close; CATCH { default { $refused = so .message ~~ /refused/ } } }
        last if $refused;
        sleep 0.05;
    }
    die 'it was not refused' unless $refused;
};

check 'datagrams', {
    my $free = IO::Socket::INET.new(:localhost<127.0.0.1>, :localport(0), :listen);
    my $port = $free.localport;
    $free.close;
    my $socket = IO::Socket::Async.bind-udp('127.0.0.1', $port);
    my @got;
    my $tap = $socket.Supply.tap: { @got.push($_) };
    my $sender = IO::Socket::Async.udp;
    for ^20 {
        await $sender.print-to('127.0.0.1', $port, "datagram $_");
        my $until = now + 20;
        sleep 0.005 while @got.elems <= $_ && now < $until;
    }
    same @got.join(','), (^20).map({ "datagram $_" }).join(',');
    $tap.close;
    $sender.close;
};

check 'processes', {
    my $process = Proc::Async.new(:w, 'sh', '-c', 'cat; echo err >&2; exit 4');
    my ($out, $err) = '', '';
    $process.stdout.tap: { $out ~= $_ };
    $process.stderr.tap: { $err ~= $_ };
    my $end = $process.start;
    my $text = 'line of text' x rounds(20000, 200000);
    await $process.print($text);
    $process.close-stdin;
    my $status = await $end;
    same $status.exitcode, 4;
    same $err, "err\n";
    die "{$out.chars} of {$text.chars}" unless $out eq $text;
    my $sleeper = Proc::Async.new('sleep', '20');
    my $ended = $sleeper.start;
    await $sleeper.ready;
    $sleeper.kill(SIGTERM);
    same (await $ended).signal, 15;
    same run('sh', '-c', 'echo sync', :out).out.slurp(:close), "sync\n";
    my @codes = await (^20).map: -> $n { Proc::Async.new('sh', '-c', "exit $n").start };
    same @codes.map(*.exitcode).join(' '), (^20).join(' ');
};

check 'signals', {
    my $came = Promise.new;
    my $tap = signal(SIGUSR1).tap: { $came.keep };
    sleep 0.1;
    run 'kill', '-USR1', ~$*PID;
    await $came;
    $tap.close;
};

check 'files, and changes of them', {
    mkdir 'watched';
    my @seen;
    my $tap = 'watched'.IO.watch.tap: { @seen.push(.path.IO.basename) };
    sleep 0.1;
    spurt 'watched/new', 'x' x 100000;
    my $until = now + 20;
    sleep 0.01 until @seen.first('new') || now > $until;
    die 'no change was told' unless @seen.first('new');
    $tap.close;
    same slurp('watched/new').chars, 100000;
    unlink 'watched/new';
    same 'watched'.IO.dir.elems, 0;
};

check 'names', {
    my $tap = IO::Socket::Async.listen('localhost', 0).tap: { .close };
    my $port = await $tap.socket-port;
    (await IO::Socket::Async.connect('localhost', $port)).close;
    $tap.close;
};
