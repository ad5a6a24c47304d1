// Data attributes of a terminal's element, for tests and style sheets. Pure.

import { defined, keyboardStateOf } from "sandbox-stdio/core";
import type { Status } from "../connection/status.ts";
import type { ParticipantsState } from "../sharing/participants-model.ts";
import type { View } from "./terminal-session.ts";

export function dataOf(view: View | undefined, status: Status): Record<`data-${string}`, string | number> {
  if (view === undefined) return { "data-state": status.name };
  const end = view.client.phase === "ended" && view.client.end.kind === "exit" ? view.client.end : undefined;
  return {
    "data-state": status.name,
    "data-cols": view.cols,
    "data-rows": view.rows,
    "data-renderer": view.renderer,
    "data-resumes": view.resumes,
    "data-unsent-keys": view.unsentKeys,
    "data-missed-bytes": view.missedBytes,
    "data-framed": String(view.isFramed),
    ...defined({ "data-exit-code": end?.code, "data-exit-signal": end?.signal }),
  };
}

export function peopleDataOf(
  room: ParticipantsState | undefined,
  isReadOnly: boolean,
): Record<`data-${string}`, string | number> {
  const { people } = room ?? {};
  if (people === undefined) return {};
  return {
    "data-people": people.participants.length,
    "data-keyboard": keyboardStateOf(people),
    "data-read-only": String(isReadOnly),
  };
}
