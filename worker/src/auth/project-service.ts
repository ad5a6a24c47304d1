// Asks the Project Service whether a token's user owns a project. Its answer is all that is known of it.

import { readText } from "../base/read-text.ts";
import { AuthFault } from "../refusal/fault.ts";

const MAX_ANSWER_BYTES = 64 * 1024;
const TIMEOUT_MS = 5_000;
const MAX_USER_CHARACTERS = 256;

/**
 * `POST {url}/internal/validate` with `{"token","project_id"}`. 200 with `{"user_id"}`: the user owns the project.
 * @returns The user's id.
 * @throws {AuthFault} `not_owner` for a 401 or a 403, `validator_unavailable` if no usable answer comes in time.
 */
export async function validateProject(url: string, project: string, token: string): Promise<string> {
  const { status, userId } = await ask(url, project, token);
  if (status === 401 || status === 403) throw new AuthFault("not_owner", "The project is not this user's");
  const isId = (typeof userId === "string" && userId !== "") || Number.isSafeInteger(userId);
  if (status !== 200 || !isId) throw unreachable(new Error(`Cannot use an answer of status ${status} from ${url}`));
  return String(userId).replace(/\p{C}/gu, "").slice(0, MAX_USER_CHARACTERS);
}

async function ask(url: string, project: string, token: string): Promise<{ status: number; userId?: unknown }> {
  try {
    const response = await fetch(`${url}/internal/validate`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify({ token, project_id: project }),
      // A redirect would carry the token to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { status: response.status };
    }
    const { text } = await readText(response, MAX_ANSWER_BYTES, TIMEOUT_MS);
    const body = JSON.parse(text) as { user_id?: unknown } | null;
    return { status: 200, userId: body?.user_id };
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(cause: unknown): AuthFault {
  return new AuthFault("validator_unavailable", "Project Service unavailable", { cause });
}
