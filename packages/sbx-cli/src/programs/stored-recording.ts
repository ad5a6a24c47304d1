// A session's recording as the server has it, as a stream.

import { defined } from "sandbox-stdio/core";
import { optionalToken, type TokenSource } from "../account/credentials.ts";
import type { SessionTarget } from "../args/cli-command.ts";
import { describeFailure, fetchFailure } from "../base/network-errors.ts";
import { CliError } from "../base/outcome.ts";
import { notifyPerson } from "../base/print.ts";
import { withSlowNotice } from "../base/slow-notice.ts";
import { RefusedError } from "../connection/api-call.ts";
import { refusalOf } from "../connection/refusal.ts";
import { fetchUnlessSilent } from "../connection/silence.ts";

export type RecordingQuery = Readonly<Record<string, string>>;

/** @throws {CliError} If the server refuses, or can't be reached; also while it is read. */
export async function* storedRecording(
  { endpoint, sandbox, session, ticket }: SessionTarget & { readonly ticket?: string },
  source: TokenSource,
  query: RecordingQuery,
): AsyncGenerator<Uint8Array> {
  const { host } = new URL(endpoint.origin);
  const path = `/api/sandboxes/${sandbox}/sessions/${session}/recording?${new URLSearchParams(query)}`;
  const bearer = await (ticket === undefined ? source.token : optionalToken(source))();
  const headers = defined({ Authorization: bearer && `Bearer ${bearer}`, "X-Stdio-Ticket": ticket });
  const asked = fetchUnlessSilent()(`${endpoint.httpBase}${path}`, { headers, redirect: "error" });
  try {
    const response = await withSlowNotice(`waiting for a response from ${host}`, asked, notifyPerson);
    if (!response.ok) throw new RefusedError(response.status, refusalOf(await response.text()));
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const failure = fetchFailure(error) ?? (error instanceof Error ? error : new Error(String(error)));
    throw new CliError(describeFailure(failure, host), undefined, { code: "unreachable" });
  }
}
