// A pseudo-terminal: making it, its size and its settings. Bun.Terminal can't be held back.

import {
  addressOf,
  F_DUPFD_CLOEXEC,
  LibcError,
  libc,
  O_CLOEXEC,
  O_NOCTTY,
  O_NONBLOCK,
  O_RDWR,
  Struct,
} from "../base/libc.ts";

export type Pty = {
  /** The bridge's end, non-blocking: twice, as output and input are watched and closed separately, as with pipes. */
  master: number;
  input: number;
  /**
   * The program's end. Held open until the program has exited: a program that closes its own for a while (`exec </dev/null >log 2>&1`)
   * can still open /dev/tty later. While a slave is open the master can't report its end.
   */
  slave: number;
  slavePath: string;
};

const TIOCSWINSZ = 0x5414;
const TIOCGPTPEER = 0x5441;

// struct termios of glibc, the same on x86-64 and arm64.
const TERMIOS_BYTES = 60;
const INPUT_FLAGS_OFFSET = 0;
const LOCAL_FLAGS_OFFSET = 12;
const ICANON = 0o2;
const ECHO = 0o10;
const CONTROL_CHARACTERS_OFFSET = 17;
const IUTF8 = 0o40000;
const VEOF = 4;
const TCSANOW = 0;

/** @throws {LibcError} If the machine has no more terminals or descriptors. */
export function openPty(cols: number, rows: number): Pty {
  const master = libc.posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (master < 0) throw new LibcError("open a terminal");
  let slave = -1;
  let input = -1;
  try {
    if (libc.unlockpt(master) !== 0) throw new LibcError("unlock a terminal");
    const name = new Uint8Array(64);
    const failure = libc.ptsname_r(master, name, name.length);
    if (failure !== 0) throw new LibcError("name a terminal", failure);
    setUtf8(master);
    resizePty(master, cols, rows);
    slave = libc.ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) throw new LibcError("open a terminal's slave");
    input = libc.fcntl(master, F_DUPFD_CLOEXEC, 0);
    if (input < 0) throw new LibcError("duplicate a terminal's master");
    return { master, input, slave, slavePath: Buffer.from(name.subarray(0, name.indexOf(0))).toString() };
  } catch (error) {
    for (const fd of [slave, input, master]) if (fd >= 0) libc.close(fd);
    throw error;
  }
}

/** The kernel sends SIGWINCH to the foreground process group if the size is new. */
export function resizePty(master: number, cols: number, rows: number): void {
  const size = Uint16Array.of(rows, cols, 0, 0);
  if (libc.ioctl(master, TIOCSWINSZ, addressOf(size)) !== 0) throw new LibcError(`resize to ${cols} x ${rows}`);
}

/** The character that ends input in canonical mode; 0 if the program has switched it off. */
export function endOfFileCharacter(master: number): number {
  return readTermios(master).view.getUint8(CONTROL_CHARACTERS_OFFSET + VEOF);
}

/** A program that reads key by key, as a shell's line editor does, draws what is typed itself: it counts as an echo. */
export function isEchoing(master: number): boolean {
  const flags = readTermios(master).view.getUint32(LOCAL_FLAGS_OFFSET, true);
  return (flags & ECHO) !== 0 || (flags & ICANON) === 0;
}

/** The foreground process group; undefined if the session has ended. */
export function foregroundGroup(master: number): number | undefined {
  const group = libc.tcgetpgrp(master);
  return group > 0 ? group : undefined;
}

/** Makes erasing in canonical mode take whole UTF-8 characters. */
function setUtf8(master: number): void {
  const { view, bytes } = readTermios(master);
  view.setUint32(INPUT_FLAGS_OFFSET, view.getUint32(INPUT_FLAGS_OFFSET, true) | IUTF8, true);
  if (libc.tcsetattr(master, TCSANOW, bytes) !== 0) throw new LibcError("set up a terminal");
}

// On Linux the master answers with the slave's settings.
function readTermios(master: number): Struct {
  const termios = new Struct(TERMIOS_BYTES);
  if (libc.tcgetattr(master, termios.bytes) !== 0) throw new LibcError("ask a terminal");
  return termios;
}
