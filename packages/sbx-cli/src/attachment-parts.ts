// What an attachment is made of, beside the wish. Types alone.

import type { TokenSource } from "./credentials.ts";
import type { Environment } from "./logins.ts";
import type { ResumePlace } from "./resume-place.ts";

export type AttachmentParts = {
  readonly session: string;
  readonly token: TokenSource;
  readonly keeper: ResumePlace | undefined;
  readonly env: Environment;
  /** Whether the process was started for this client before it attaches. */
  readonly isOurs: boolean;
};
