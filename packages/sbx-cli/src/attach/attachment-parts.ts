// What an attachment is made of, beside the wish. Types alone.

import type { TokenSource } from "../account/credentials.ts";
import type { Environment } from "../base/environment.ts";
import type { ResumePlace } from "./resume-place.ts";

/** What differs where `run` attaches to the process that it has started, or found. */
export type RunPart = {
  /** Of that process: another one of its name is not read. */
  readonly incarnation: string;
  /** For how long it is attached at most; absent: until the process has ended. */
  readonly waitMs: number | undefined;
  /** Ends the process if nobody reads its output; absent: it goes on. @returns Whether it has ended. */
  readonly end: (() => Promise<boolean>) | undefined;
};

export type AttachmentParts = {
  readonly session: string;
  readonly token: TokenSource;
  readonly keeper: ResumePlace | undefined;
  readonly env: Environment;
  /** Whether the process was started for this client before it attaches. */
  readonly isOurs: boolean;
  readonly run?: RunPart;
};
