// Output as two web streams over one sequence of offsets: bytes count as processed once they and all earlier bytes of both
// streams are read. A reader that stops holds the acknowledgements, and so the process.

type Piece = { readonly bytes: Uint8Array; readonly end: number; isTaken: boolean };

export class OutputStreams {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
  readonly #processed: (end: number) => void;
  /** In the order of their offsets. Pieces before `#first` have been read. */
  #pieces: Piece[] = [];
  #first = 0;

  /** @param processed Called with the offset up to which both streams have been read. */
  constructor(processed: (end: number) => void) {
    this.#processed = processed;
    const taken = () => this.#taken();
    this.stdout = new OutputPipe(taken);
    this.stderr = new OutputPipe(taken);
  }

  /** @param end The offset after `bytes`. */
  deliver(pipe: OutputPipe, bytes: Uint8Array, end: number): void {
    const piece = { bytes, end, isTaken: false };
    this.#pieces.push(piece);
    pipe.push(piece);
  }

  /** Ends the output. Unread output stays readable. */
  end(error?: Error): void {
    this.stdout.end(error);
    this.stderr.end(error);
  }

  /** Drops unread output. */
  drop(): void {
    this.stdout.drop();
    this.stderr.drop();
  }

  #taken(): void {
    const before = this.#first;
    while (this.#pieces[this.#first]?.isTaken === true) this.#first += 1;
    if (this.#first === before) return;
    const end = this.#pieces[this.#first - 1]?.end ?? 0;
    if (this.#first * 2 > this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#first);
      this.#first = 0;
    }
    this.#processed(end);
  }
}

/** One of the streams. Passes on a piece per read and buffers nothing in the stream. */
class OutputPipe {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #taken: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: Piece[] = [];
  #next = 0;
  /** Resolves the pending read. */
  #wanted: (() => void) | undefined;
  #isCancelled = false;
  #ending: { readonly error?: Error } | undefined;

  constructor(taken: () => void) {
    this.#taken = taken;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () =>
          new Promise((resolve) => {
            this.#wanted = resolve;
            this.#serve();
          }),
        cancel: () => this.#cancel(),
      },
      // Take bytes only when a reader asks for them.
      { highWaterMark: 0 },
    );
  }

  push(piece: Piece): void {
    if (this.#isCancelled || piece.bytes.length === 0) {
      piece.isTaken = true;
      this.#taken();
      return;
    }
    this.#waiting.push(piece);
    this.#serve();
  }

  /** Drops unread output without counting it as read. */
  drop(): void {
    this.#waiting = [];
    this.#next = 0;
  }

  end(error?: Error): void {
    if (this.#ending !== undefined || this.#isCancelled) return;
    this.#ending = error === undefined ? {} : { error };
    this.#finish();
  }

  #serve(): void {
    const wanted = this.#wanted;
    const piece = this.#waiting[this.#next];
    if (wanted === undefined || piece === undefined) return;
    this.#wanted = undefined;
    this.#next += 1;
    if (this.#next * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    this.#controller?.enqueue(piece.bytes);
    piece.isTaken = true;
    wanted();
    this.#finish();
    this.#taken();
  }

  #finish(): void {
    if (this.#ending === undefined || this.#next < this.#waiting.length) return;
    const { error } = this.#ending;
    if (error === undefined) this.#controller?.close();
    else this.#controller?.error(error);
    this.#wanted?.();
    this.#wanted = undefined;
  }

  #cancel(): void {
    this.#isCancelled = true;
    this.#wanted?.();
    this.#wanted = undefined;
    for (const piece of this.#waiting) piece.isTaken = true;
    this.#waiting = [];
    this.#next = 0;
    this.#taken();
  }
}
