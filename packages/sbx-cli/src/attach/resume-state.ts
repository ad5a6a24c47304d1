// What a later run needs to continue this one, and how this run continues an earlier one. resume-file.ts holds the file,
// written-file.ts recognizes output that a killed run wrote beyond its saved position.

import { randomUUID } from "node:crypto";
import { type ClientOptions, defined, type StdioClient } from "sandbox-stdio/core";
import type { AttachRequest } from "../args/cli-command.ts";
import { CliError, EXIT } from "../base/outcome.ts";
import type { Output } from "../base/output.ts";
import { oneLine } from "../base/plain-text.ts";
import { type InputKind, type OutputPosition, ResumeFile, type ResumePosition } from "./resume-file.ts";
import { stdoutPosition, WrittenFile } from "./written-file.ts";

const STDOUT = 1;

export class ResumeState {
  readonly file: ResumeFile;
  readonly #request: AttachRequest;
  /** The position that an earlier run saved. */
  readonly earlier: ResumePosition | undefined;
  readonly #stdout: OutputPosition | undefined;
  /** Output that a killed run wrote after it last saved its position. */
  readonly written: WrittenFile | undefined;
  #input: InputKind | undefined;
  #isIncomplete: boolean;
  #attempt: string | undefined;

  /** @throws {CliError} If the file can't be read, or belongs to another session. */
  constructor(path: string, request: AttachRequest) {
    this.file = new ResumeFile(path);
    this.#request = request;
    this.earlier = this.file.read();
    if (this.earlier !== undefined) this.#check(this.earlier);
    this.#input = this.earlier?.input;
    this.#isIncomplete = this.earlier?.isIncomplete ?? false;
    this.#attempt = this.earlier?.attempt;
    this.#stdout = stdoutPosition();
    this.written = WrittenFile.open(this.earlier?.stdout, this.#stdout);
  }

  /**
   * Client options that continue the earlier run.
   * @param isTyped Whether a person types this run's input. @param isTerminal Whether its output goes to a terminal, too.
   */
  resumeFrom(isTyped: boolean, isTerminal: boolean): Pick<ClientOptions, "resume" | "offset" | "repeatsInput"> {
    const { resume, offset, input } = this.earlier ?? {};
    if (resume === undefined || offset === undefined) return {};
    // The earlier screen is gone: draw it anew, as for a reloaded page.
    if (input === "typed" && isTerminal) return { resume };
    // A pipe repeats its input from the beginning; typed input is new.
    return { resume, offset, repeatsInput: input !== "typed" && !isTyped };
  }

  /** Whether an earlier run may have started the process without receiving the response. */
  get isStartUnsure(): boolean {
    return this.earlier?.attempt !== undefined && this.earlier.resume === undefined;
  }

  /**
   * Saves the start's id before a start over HTTP, so that a later run can repeat it.
   * @returns The id. @throws {CliError} If the file can't be written.
   */
  starting(session: string): string {
    const attempt = this.#attempt ?? randomUUID();
    this.#attempt = attempt;
    this.file.keep(
      () => ({ url: this.#request.endpoint.attachUrl, sandbox: this.#request.sandbox, session, offset: 0, attempt }),
      () => undefined,
    );
    return attempt;
  }

  /** Saves the position now and whenever it moves. @param onFault Called once if a later write fails. @throws {CliError} */
  begin(session: string, client: StdioClient, output: Output, onFault: (message: string) => void): void {
    this.file.keep(() => this.#now(session, client, output), onFault);
  }

  /** After the first greeting: notes the kind of this run's input. */
  greeted(input: InputKind): void {
    this.#input = input;
    this.file.save();
  }

  /** Notes that data was lost, before the position moves past it. */
  incomplete(): void {
    this.#isIncomplete = true;
    this.file.save();
  }

  #now(session: string, client: StdioClient, output: Output): ResumePosition {
    const point = client.resumePoint;
    return {
      url: this.#request.endpoint.attachUrl,
      sandbox: this.#request.sandbox,
      session,
      offset: point?.offset ?? this.earlier?.offset ?? 0,
      ...defined({
        incarnation: client.hello?.incarnation ?? this.earlier?.incarnation,
        resume: point?.resume ?? this.earlier?.resume,
        attempt: this.#attempt,
        stdout: this.#stdoutNow(output),
        input: this.#input,
        isIncomplete: this.#isIncomplete || undefined,
      }),
    };
  }

  #stdoutNow(output: Output): OutputPosition | undefined {
    if (this.#stdout === undefined) return undefined;
    const isMatching = this.written !== undefined && !this.written.isDone;
    const size = isMatching ? this.written.position : this.#stdout.size + output.writtenTo(STDOUT);
    return { ...this.#stdout, size };
  }

  #check({ url, sandbox, session }: ResumePosition): void {
    const { endpoint, sandbox: wanted, session: name, resumeFile } = this.#request;
    if (url === endpoint.attachUrl && sandbox === wanted && (name === undefined || name === session)) return;
    const whose = `${url}, sandbox ${sandbox}, session ${session}`;
    throw new CliError(`${resumeFile} belongs to another session: ${oneLine(whose)}`, EXIT.usage);
  }
}
