// Schemas of requests to a session that is there (D, W, T, S, C), and of their answers. Their fields are those of sandbox-stdio's
// shapes.

import * as shapes from "sandbox-stdio/shapes";
import type * as z from "zod";
import { answerOf, bodyOf, queryOf } from "./zod-of.ts";

export const namedQuery = queryOf(shapes.named);
export const commandsQuery = namedQuery;
export const listQuery = queryOf(shapes.listing);

export const readQuery = queryOf(shapes.read).refine(
  ({ from, tail, since, agoMs }) => [from, tail, since, agoMs].filter((one) => one !== undefined).length <= 1,
  "has more than one of from, tail, since and agoMs",
);
export const readAnswer = answerOf(shapes.readAnswer);

type WriteFields = z.output<ReturnType<typeof bodyOf<typeof shapes.write>>>;
const inputs = ({ text, keys, paste, base64 }: WriteFields) =>
  [text, keys, paste, base64].filter((input) => input !== undefined).length;

export const writeRequest = bodyOf(shapes.write)
  .refine((body) => inputs(body) <= 1, "has more than one of text, keys, paste and base64")
  .refine((body) => inputs(body) === 1 || body.enter === true || body.eof === true, "has nothing to write")
  .refine(({ enter, eof }) => enter !== true || eof !== true, "has both enter and eof");
export const writeAnswer = answerOf(shapes.writeAnswer);

export const waitRequest = bodyOf(shapes.wait);
export const waitAnswer = answerOf(shapes.waitAnswer);

export const screenQuery = queryOf(shapes.screen);
export const screenAnswer = answerOf(shapes.screenAnswer).loose();
export const commandsAnswer = answerOf(shapes.commandsAnswer);

export const signalRequest = bodyOf(shapes.signal);
export const resizeRequest = bodyOf(shapes.resize);
export const keyboardRequest = bodyOf(shapes.keyboard)
  .refine((body) => body.do !== "ask" || body.reason !== undefined, 'has no "reason": say what a person is to do')
  .refine(
    ({ do: what, reason, secret }) => what === "ask" || (reason ?? secret) === undefined,
    'has "reason" or "secret", which only "do":"ask" takes',
  );
export const keyboardAnswer = answerOf(shapes.keyboardAnswer);
