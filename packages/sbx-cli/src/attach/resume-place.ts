// Keeps a run's place in its session for a later run: the file's content, where standard output stands, and when it is
// written. The file itself is resume-file.ts; a killed run's output beyond it is written-file.ts.

import { randomUUID } from "node:crypto";
import type { ClientOptions, StdioClient } from "sandbox-stdio/core";
import type { AttachWish } from "../args/cli-command.ts";
import { CliError, EXIT } from "../base/outcome.ts";
import type { Output } from "../base/output.ts";
import { oneLine } from "../base/plain-text.ts";
import { type InputKind, type OutputPlace, type Place, ResumeFile } from "./resume-file.ts";
import { stdoutPlace, WrittenFile } from "./written-file.ts";

const STDOUT = 1;

export class ResumePlace {
  readonly #file: ResumeFile;
  readonly #wish: AttachWish;
  /** The place that an earlier run left. */
  readonly earlier: Place | undefined;
  readonly #stdout: OutputPlace | undefined;
  /** Output that a killed run wrote to standard output and did not note any more. */
  readonly written: WrittenFile | undefined;
  #input: InputKind | undefined;
  #isIncomplete: boolean;
  #attempt: string | undefined;

  /** @throws {CliError} If the file can't be read, or belongs to another session. */
  constructor(path: string, wish: AttachWish) {
    this.#file = new ResumeFile(path);
    this.#wish = wish;
    this.earlier = this.#file.read();
    if (this.earlier !== undefined) this.#check(this.earlier);
    this.#input = this.earlier?.input;
    this.#isIncomplete = this.earlier?.isIncomplete ?? false;
    this.#attempt = this.earlier?.attempt;
    this.#stdout = stdoutPlace();
    this.written = WrittenFile.open(this.earlier?.stdout, this.#stdout);
  }

  /**
   * The client's options that continue the earlier run.
   * @param isTyped Whether a person types this run's input. @param isTerminal Whether its output is drawn, too.
   */
  resumeFrom(isTyped: boolean, isTerminal: boolean): Pick<ClientOptions, "resume" | "offset" | "repeatsInput"> {
    const { resume, offset, input } = this.earlier ?? {};
    if (resume === undefined || offset === undefined) return {};
    // The earlier screen is not there any more: it is drawn anew, as for a page that was reloaded.
    if (input === "typed" && isTerminal) return { resume };
    // A pipe begins again from its beginning; typed input is new.
    return { resume, offset, repeatsInput: input !== "typed" && !isTyped };
  }

  /** Whether an earlier run may have started the process without hearing of it. */
  get isStartUnsure(): boolean {
    return this.earlier?.attempt !== undefined && this.earlier.resume === undefined;
  }

  /**
   * Notes a start over HTTP before it is asked for: a run that is killed meanwhile is gone on with, and not begun again.
   * @returns The id that tells this start from others. @throws {CliError} If the file can't be written.
   */
  starting(session: string): string {
    const attempt = this.#attempt ?? randomUUID();
    this.#attempt = attempt;
    this.#file.keep(
      () => ({ url: this.#wish.endpoint.attachUrl, sandbox: this.#wish.sandbox, session, offset: 0, attempt }),
      () => undefined,
    );
    return attempt;
  }

  /**
   * Writes the file, and from now on whenever the place has moved.
   * @param onFault It can't be written any more: told once. @throws {CliError} If it can't be written at all.
   */
  begin(session: string, client: StdioClient, output: Output, onFault: (message: string) => void): void {
    this.#file.keep(() => this.#now(session, client, output), onFault);
  }

  /** Output before `offset` has been written. */
  moved(offset: number): void {
    this.#file.moved(offset);
  }

  save(): void {
    this.#file.save();
  }

  /** The session has greeted this run, whose input is of this kind. */
  greeted(input: InputKind): void {
    this.#input = input;
    this.#file.save();
  }

  /** Data has gone missing: noted before the place moves past it. */
  incomplete(): void {
    this.#isIncomplete = true;
    this.#file.save();
  }

  /** The session has ended, and everything of it has been written: nothing is left to come back to. */
  remove(): void {
    this.#file.remove();
  }

  #now(session: string, client: StdioClient, output: Output): Place {
    const point = client.resumePoint;
    const incarnation = client.hello?.incarnation ?? this.earlier?.incarnation;
    const resume = point?.resume ?? this.earlier?.resume;
    const stdout = this.#stdoutNow(output);
    return {
      url: this.#wish.endpoint.attachUrl,
      sandbox: this.#wish.sandbox,
      session,
      offset: point?.offset ?? this.earlier?.offset ?? 0,
      ...(incarnation === undefined ? {} : { incarnation }),
      ...(resume === undefined ? {} : { resume }),
      ...(this.#attempt === undefined ? {} : { attempt: this.#attempt }),
      ...(stdout === undefined ? {} : { stdout }),
      ...(this.#input === undefined ? {} : { input: this.#input }),
      ...(this.#isIncomplete ? { isIncomplete: true } : {}),
    };
  }

  #stdoutNow(output: Output): OutputPlace | undefined {
    if (this.#stdout === undefined) return undefined;
    const isMatching = this.written !== undefined && !this.written.isDone;
    const size = isMatching ? this.written.position : this.#stdout.size + output.writtenTo(STDOUT);
    return { ...this.#stdout, size };
  }

  #check({ url, sandbox, session }: Place): void {
    const { endpoint, sandbox: wanted, session: name, resumeFile } = this.#wish;
    if (url === endpoint.attachUrl && sandbox === wanted && (name === undefined || name === session)) return;
    const whose = `${url}, sandbox ${sandbox}, session ${session}`;
    throw new CliError(`${resumeFile} belongs to another session: ${oneLine(whose)}`, EXIT.usage);
  }
}
