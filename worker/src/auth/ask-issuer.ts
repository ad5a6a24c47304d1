// One question to the issuer: a form posted, a JSON object answered. Knows nothing of the question's meaning.

import { isRecord } from "sandbox-stdio/core";
import { readText } from "../base/read-text.ts";
import { AuthFault } from "../refusal/fault.ts";
import type { Claims } from "./identity.ts";

export interface IssuerAnswer {
  readonly status: number;
  readonly body: Claims;
}

const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Posts a form to one of the issuer's endpoints; any status below 500 is an answer.
 * @throws {AuthFault} `issuer_unreachable` if no answer arrives within 5 s, or it is not a JSON object.
 */
export async function askIssuer(uri: string, form: Readonly<Record<string, string>>): Promise<IssuerAnswer> {
  try {
    const response = await fetch(uri, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(form),
      // The form holds a token or a code: a redirect would carry it to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status >= 500) {
      await response.body?.cancel();
      throw new Error(`Cannot use an answer of status ${response.status}`);
    }
    const { text } = await readText(response, MAX_ANSWER_BYTES, TIMEOUT_MS);
    const body: unknown = JSON.parse(text);
    if (!isRecord(body)) throw new TypeError("Cannot use an answer that is not a JSON object");
    return { status: response.status, body };
  } catch (error) {
    throw new AuthFault("issuer_unreachable", "The issuer does not answer, try again", { cause: error });
  }
}
