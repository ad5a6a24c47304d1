// The way from a caller to the names of a sandbox's objects: the Project Service, where one is set, is asked first.
// The cheap checks come before that: the token, its scopes, and the count of attempts.

import { readText } from "../base/read-text.ts";
import { AuthFault } from "../refusal/fault.ts";
import { codexKey, sandboxKey, sessionKey, type Tenant } from "./names.ts";
import { readServiceUrl } from "./settings.ts";

export interface ProjectEnv {
  /**
   * A service that says which user owns which project, asked at every route to a sandbox. Default: a project is a
   * sandbox of the token's tenant.
   */
  readonly PROJECT_SERVICE_URL?: string;
}

/** The caller that asks for a project: with a token, or with an earlier answer of the Project Service. */
export type ProjectAsker = {
  /** The tenant that owns the sandboxes of these names. */
  readonly tenant: Tenant;
} & ({ readonly token: string } | { readonly asked: ProjectUser });

/** A user's id in the words of the Project Service; undefined where it was not asked. */
export type ProjectUser = { readonly user: string | undefined };

/** A sandbox that the asker may reach. */
export type Project = ProjectUser & {
  readonly sandbox: string;
  readonly sandboxKey: string;
  /** @throws {AuthFault} `bad_name`. */
  sessionKey(session: string): Promise<string>;
  /** The object of its codex clients. */
  codexKey(): Promise<string>;
};

/** The facts that are known of the caller at once, or the question that the Project Service has still to answer. */
export type ProjectQuestion = ProjectUser | (() => Promise<ProjectUser>);

/** A sandbox whose asker may have to be asked about: nothing of it is reached before its question is answered. */
export type UnaskedProject = Omit<Project, "user"> & { readonly question: ProjectQuestion };

/**
 * Every route to a sandbox, or to one of its sessions, comes through here. Nothing is remembered: each request asks anew.
 * @throws {AuthFault} `bad_name`, `not_owner`, `validator_unavailable`, `misconfigured`.
 */
export async function openProject(env: ProjectEnv, asker: ProjectAsker, sandbox: string): Promise<Project> {
  const { question, ...names } = await nameProject(env, asker, sandbox);
  return { ...names, ...(typeof question === "function" ? await question() : question) };
}

/**
 * Names a project for a route that counts the attempt before it puts the question.
 * @throws {AuthFault} `bad_name`, `not_owner` for a ticket, `misconfigured`. The question also throws `validator_unavailable`.
 */
export async function nameProject(env: ProjectEnv, asker: ProjectAsker, sandbox: string): Promise<UnaskedProject> {
  const { tenant } = asker;
  const question = "token" in asker ? tokenQuestion(env, asker.token, sandbox) : requireAsked(env, asker.asked);
  return {
    question,
    sandbox,
    sandboxKey: await sandboxKey(tenant, sandbox),
    sessionKey: (session) => sessionKey(tenant, sandbox, session),
    codexKey: () => codexKey(tenant, sandbox),
  };
}

/**
 * Shows a token to the Project Service.
 * @throws {AuthFault} `not_owner`, `validator_unavailable`, `misconfigured`.
 */
export async function askProject(env: ProjectEnv, token: string, project: string): Promise<ProjectUser> {
  const question = tokenQuestion(env, token, project);
  return typeof question === "function" ? question() : question;
}

function tokenQuestion(env: ProjectEnv, token: string, project: string): ProjectQuestion {
  const url = readServiceUrl("PROJECT_SERVICE_URL", env.PROJECT_SERVICE_URL);
  return url === undefined ? { user: undefined } : async () => ({ user: await validateProject(url, project, token) });
}

/** A ticket from before the Project Service was set up opens nothing. */
function requireAsked(env: ProjectEnv, asked: ProjectUser): ProjectUser {
  const url = readServiceUrl("PROJECT_SERVICE_URL", env.PROJECT_SERVICE_URL);
  if (url === undefined) return { user: undefined };
  if (asked.user === undefined) throw new AuthFault("not_owner", "The Project Service was not asked about this ticket");
  return asked;
}

const MAX_ANSWER_BYTES = 64 * 1024;
const TIMEOUT_MS = 5_000;
const MAX_USER_CHARACTERS = 256;

/**
 * `POST {url}/internal/validate` with `{"token","project_id"}`. 200 with `{"user_id"}`: the user owns the project.
 * @returns The user's id.
 * @throws {AuthFault} `not_owner` for a 401 or a 403, `validator_unavailable` if no usable answer comes in time.
 */
async function validateProject(url: string, project: string, token: string): Promise<string> {
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
