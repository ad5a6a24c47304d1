// Schemas of requests that start a process (P, U1), and of what is told of one. Their fields are those of sandbox-stdio's shapes.

import * as shapes from "sandbox-stdio/shapes";
import { answerOf, bodyOf } from "./zod-of.ts";

type ProcessFields = {
  readonly cmd?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
};
type ReplaceFields = { readonly ended?: "replace" | undefined; readonly attempt?: string | undefined };

const isOneProcess = ({ cmd, command, args }: ProcessFields) =>
  (cmd === undefined) !== (command === undefined) && (args === undefined || cmd !== undefined);
const ONE_PROCESS = "needs exactly one of cmd (with args) and command";
const mayReplace = ({ ended, attempt }: ReplaceFields) => ended === undefined || attempt !== undefined;
const NEEDS_ATTEMPT = 'ended "replace" needs attempt';

export const createRequest = bodyOf(shapes.process).refine(isOneProcess, ONE_PROCESS).refine(mayReplace, NEEDS_ATTEMPT);

export const runRequest = bodyOf(shapes.run)
  .refine(isOneProcess, ONE_PROCESS)
  .refine(mayReplace, NEEDS_ATTEMPT)
  .refine(
    ({ stdin, stdinBase64 }) => stdin === undefined || stdinBase64 === undefined,
    "has both stdin and stdinBase64",
  );

export const description = answerOf(shapes.description);
export const runAnswer = answerOf(shapes.runAnswer);
export const listAnswer = answerOf(shapes.listAnswer);
