/**
 * What carries a passage inside a box: it listens on 127.0.0.1 and passes each
 * connection on to a unix socket, bytes and ends alike. A few lines for
 * whichever program the image has, given as an argument, so that no file of
 * Reeve's is needed inside. Pure text; runs nothing.
 *
 * Each keeps to the same rules: at most 128 connections, and no more of one in
 * memory than what was read at once; what is not taken on one side is not read
 * on the other. Where the socket refuses, the connection is closed, and the
 * agent tries again.
 */
import { CARRIERS, type Carrier, type Passage } from "../passage.ts";

/** Where a box sees the directory of a passage. */
export const PASSAGE_DIR = "/run/reeve-passage";

const MOST_CONNECTIONS = 128;

/** Without any module, so that Debian's perl-base is enough. The numbers are Linux's. */
const PERL = `my ($port, $path) = @ARGV; $SIG{PIPE} = 'IGNORE'; $0 = 'reeve-passage';
my ($AGAIN, $INTR) = (11, 4);
socket(my $listener, 2, 1, 0) or die; setsockopt($listener, 1, 2, pack('i', 1));
bind($listener, pack('S n a4 x8', 2, $port, pack('C4', 127, 0, 0, 1))) or die; listen($listener, 128) or die;
my (%peer, %buffer, %ended, %handle);
sub still { fcntl($_[0], 4, 2048) } # F_SETFL, O_NONBLOCK
sub drop { for my $n ($_[0], $peer{$_[0]}) { close($handle{$n}); delete $handle{$n}; delete $buffer{$n}; delete $ended{$n}; }
  my $other = delete $peer{$_[0]}; delete $peer{$other}; }
still($listener);
while (1) {
  my ($reads, $writes) = ('', '');
  vec($reads, fileno($listener), 1) = 1 if keys(%handle) < 2 * ${MOST_CONNECTIONS};
  for my $n (keys %handle) {
    vec($reads, $n, 1) = 1 if !($ended{$n} || 0) && $buffer{$peer{$n}} eq '';
    vec($writes, $n, 1) = 1 if $buffer{$n} ne '';
  }
  next if select($reads, $writes, undef, undef) < 0;
  if (vec($reads, fileno($listener), 1) && accept(my $agent, $listener)) {
    setsockopt($agent, 6, 1, pack('i', 1));
    my $model;
    if (socket($model, 1, 1, 0) && still($model) && connect($model, pack('S a*', 1, $path . chr(0)))) {
      still($agent);
      my ($a, $m) = (fileno($agent), fileno($model));
      @handle{$a, $m} = ($agent, $model); @peer{$a, $m} = ($m, $a); @buffer{$a, $m} = ('', '');
    }
    next;
  }
  for my $n (keys %handle) {
    next if !exists $handle{$n};
    if (vec($writes, $n, 1)) {
      my $sent = syswrite($handle{$n}, $buffer{$n});
      if (defined $sent) { substr($buffer{$n}, 0, $sent) = ''; }
      elsif ($! != $AGAIN && $! != $INTR) { drop($n); next; }
      shutdown($handle{$n}, 1) if $buffer{$n} eq '' && ($ended{$peer{$n}} || 0);
    }
    if (vec($reads, $n, 1)) {
      my $other = $peer{$n};
      my $got = sysread($handle{$n}, $buffer{$other}, 65536);
      if (!defined $got) { drop($n) if $! != $AGAIN && $! != $INTR; next; }
      if ($got == 0) { $ended{$n} = 1; shutdown($handle{$other}, 1); }
      else {
        my $sent = syswrite($handle{$other}, $buffer{$other});
        if (defined $sent) { substr($buffer{$other}, 0, $sent) = ''; }
        elsif ($! != $AGAIN && $! != $INTR) { drop($n); next; }
      }
    }
    drop($n) if exists $handle{$n} && ($ended{$n} || 0) && ($ended{$peer{$n}} || 0) && $buffer{$n} eq '' && $buffer{$peer{$n}} eq '';
  }
}`;

const PYTHON = `import asyncio, sys
port, path = int(sys.argv[1]), sys.argv[2]
slots = None
async def carry(reader, writer):
    while True:
        data = await reader.read(65536)
        if not data:
            break
        writer.write(data)
        await writer.drain()
    writer.write_eof()
async def serve(reader, writer):
    other = None
    try:
        async with slots:
            model, other = await asyncio.open_unix_connection(path, limit=65536)
            ways = [asyncio.ensure_future(carry(reader, other)), asyncio.ensure_future(carry(model, writer))]
            try:
                await asyncio.gather(*ways)
            finally:
                for way in ways:
                    way.cancel()
    except OSError:
        pass
    finally:
        for each in (writer, other):
            if each is not None:
                each.close()
async def main():
    global slots
    slots = asyncio.Semaphore(${MOST_CONNECTIONS})
    server = await asyncio.start_server(serve, '127.0.0.1', port, limit=65536)
    await server.serve_forever()
asyncio.run(main())`;

/** A stream passes on what the other side takes. `allowHalfOpen`: one side may end before the other. */
const NODE = `const net = require('node:net'); const [port, path] = process.argv.slice(-2);
const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (agent) => {
  const model = net.connect({ path, allowHalfOpen: true });
  for (const [from, to] of [[agent, model], [model, agent]]) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }
});
server.maxConnections = ${MOST_CONNECTIONS};
server.listen({ host: '127.0.0.1', port: Number(port) });`;

/** The arguments after the program, as words of a shell script; `$port` and `$path` are set there. */
const COMMANDS: Readonly<Record<Carrier, string>> = {
  perl: `perl -e "$perl" "$port" "$path"`,
  python3: `python3 -I -c "$python" "$port" "$path"`,
  // It waits half a second for the other side of a connection that one side has ended; a model may take longer.
  socat: `socat -t 86400 "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,nodelay,fork,max-children=${MOST_CONNECTIONS}" "UNIX-CONNECT:$path"`,
  node: `node --max-old-space-size=64 --max-semi-space-size=1 -e "$node" -- "$port" "$path"`,
};

/** How a box ends whose image has none of the carriers. */
export const WITHOUT_CARRIER = 96;

/** Ten seconds; a carrier is there within one, and on a machine that is busier the agent has to try again. */
const LOOKS = 500;

/**
 * Starts the carrier beside what follows, again whenever it ends, and goes on once it listens. Sets `carrier` to the
 * process that sees to that. For /bin/sh; `$2` to `$4` are `passageArguments`.
 */
export function passageScript({ port, socket }: Pick<Passage, "port" | "socket">): string {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const choice = CARRIERS.map(
    (name, index) =>
      `${index === 0 ? "if" : "elif"} command -v ${name} >/dev/null; then carry() { ${COMMANDS[name]}; }`,
  );
  return `perl=$2 python=$3 node=$4 port=${port} path=${PASSAGE_DIR}/${socket}
${choice.join("\n")}
else exit ${WITHOUT_CARRIER}
fi
{ while :; do carry; sleep 0.2; done; } </dev/null >/dev/null 2>&1 &
carrier=$!
listens() { while read -r _ at _ state _; do case "$at $state" in *:${hex}" 0A") return 0; esac; done </proc/net/tcp; return 1; }
i=0; until listens || [ $i -ge ${LOOKS} ]; do i=$((i+1)); sleep 0.02; done
`;
}

/** One carrier by itself. */
export function carrierCommand(name: Carrier, port: number, path: string): readonly [string, ...string[]] {
  const script = `perl=$1 python=$2 node=$3 port=$4 path=$5; exec ${COMMANDS[name]}`;
  return ["/bin/sh", "-c", script, "reeve", ...passageArguments(), String(port), path];
}

export function passageArguments(): readonly string[] {
  return [PERL, PYTHON, NODE];
}
