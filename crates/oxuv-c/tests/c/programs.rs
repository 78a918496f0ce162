//! Programs that check for themselves, each linked with both libraries.

use std::collections::BTreeSet;
use std::path::Path;

use crate::build::{self, Link};

macro_rules! programs {
    ($($test:ident: $source:literal;)*) => {
        $(
            #[test]
            fn $test() {
                for link in [Link::Static, Link::Shared] {
                    assert_eq!(build::run(&build::program($source, link)), "ok\n");
                }
            }
        )*

        const SOURCES: &[&str] = &[$($source),*];
    };
}

programs! {
    a_connection_may_end_by_a_reset: "close_reset.c";
    a_loop_counts_its_events_and_how_long_it_waits: "metrics.c";
    a_stream_tells_its_state: "stream_state.c";
    a_try_to_write_takes_what_fits: "try_write.c";
    a_server_outlives_its_clients: "pipe_storm.c";
    addresses_have_texts: "address.c";
    affinity: "thread_affinity.c";
    all_handles_have_something_in_common: "handles.c";
    async_handles_are_sent_to_from_anywhere: "async.c";
    barriers: "thread_barrier.c";
    bugs_that_were_reported: "cases.c";
    bugs_that_were_reported_of_loops: "reported.c";
    bugs_that_were_reported_of_udp: "udp_reported.c";
    any_allocation_may_fail_under_files: "refusals_files.c";
    any_allocation_may_fail_under_streams: "refusals_streams.c";
    any_allocation_may_fail_under_the_rest: "refusals_rest.c";
    callbacks_may_be_left_by_longjmp: "jump.c";
    callbacks_may_do_anything_to_any_handle: "reentrant.c";
    children_are_made_and_end: "process.c";
    children_share_our_memory_until_they_run: "process_memory.c";
    children_have_the_descriptors_asked_for: "process_descriptors.c";
    children_have_their_own_signals: "process_signals.c";
    children_whose_descriptors_are_refused: "process_refused.c";
    children_of_a_fork: "fork.c";
    clocks_sleep_and_random_bytes: "clock.c";
    conditions: "thread_condition.c";
    connections_are_made: "tcp_connect.c";
    datagrams_are_sent_and_received: "udp.c";
    datagrams_are_sent_and_received_several_at_a_time: "udp_mmsg.c";
    descriptors_are_of_a_kind: "guess_handle.c";
    descriptors_of_others_are_watched: "poll.c";
    directories_are_read: "fs_directory.c";
    everything_at_once: "everything.c";
    each_direction_of_a_connection_ends_by_itself: "half_close.c";
    errors_have_names_and_messages: "errors.c";
    files_and_file_systems_are_known: "fs_stat.c";
    faults_of_files_come_to_their_requests: "fs_faults.c";
    file_requests_are_worked_on_by_threads: "fs_async.c";
    file_requests_for_which_memory_is_short: "fs_short_memory.c";
    file_requests_tell_what_they_are: "fs_request.c";
    files_are_copied: "fs_copy.c";
    files_are_done_by_a_ring: "fs_ring.c";
    files_are_read_and_written: "fs_file.c";
    files_have_names_and_permissions: "fs_names.c";
    files_have_times: "fs_times.c";
    files_are_watched_while_memory_is_short: "watched_short_memory.c";
    files_tell_of_changes: "fs_event.c";
    files_are_looked_at_again_and_again: "fs_poll.c";
    handles_are_printed: "print.c";
    libraries_are_loaded_and_searched: "dl.c";
    links_and_where_paths_lead: "fs_links.c";
    locks: "thread_lock.c";
    loops_are_made_asked_and_ended: "loop.c";
    memory_comes_from_the_programs_allocator: "allocator.c";
    misuse_is_found_and_does_no_harm: "misuse.c";
    names: "thread_name.c";
    names_of_hosts_are_looked_up: "names.c";
    once_and_keys: "thread_once.c";
    options_of_connections: "tcp_options.c";
    options_of_datagrams_and_groups: "udp_options.c";
    pipes: "pipe.c";
    pipes_have_names: "pipe_names.c";
    pipes_pass_handles: "pipe_handles.c";
    priorities: "thread_priority.c";
    public_fields_are_kept_true: "fields.c";
    random_bytes_come_later: "random_async.c";
    semaphores: "thread_semaphore.c";
    signals: "signal.c";
    temporary_files: "fs_temporary.c";
    terminals_are_streams: "tty_stream.c";
    terminals_have_modes_and_a_size: "tty.c";
    the_environment: "env.c";
    the_machine_and_its_system: "uname.c";
    the_memory_of_the_system: "system_memory.c";
    the_network_interfaces: "interfaces.c";
    the_paths_of_the_process: "paths.c";
    the_processors: "cpu.c";
    the_title_of_the_process: "process_title.c";
    the_users: "users.c";
    threads: "thread.c";
    threads_may_end_in_a_callback: "end_thread.c";
    timers_and_watchers: "timer.c";
    trees_of_bsds_macros: "tree.c";
    turns_and_their_rounds: "turn.c";
    units_of_16_bits_become_bytes_and_come_back: "strings.c";
    walks_by_callbacks_that_do_anything: "walk.c";
    work_of_many_loops: "work_threads.c";
    work_on_one_thread: "work.c";
    writes_are_taken_back: "write_cancel.c";
    what_is_asked_of_the_system_for_which_memory_is_short: "short_memory.c";
}

#[test]
fn callbacks_may_be_left_by_an_exception() {
    if !build::has_cplusplus() {
        println!("left out: there is no C++ compiler here");
        return;
    }
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("throw.cc", link)), "ok\n");
    }
}

/// The sources of the other tests, which need a peer, an argument or another way to be built.
const OTHERS: &[&str] = &["echo_server.c", "linked.c", "load.c", "observed.c", "soak.c", "trace_server.c"];

#[test]
fn no_program_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<String> = names.filter(|name| name.ends_with(".c")).collect();
    let known: BTreeSet<String> = SOURCES.iter().chain(OTHERS).map(|&name| name.into()).collect();
    assert_eq!(there, known);
}
