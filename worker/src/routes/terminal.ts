// The answers of a ttyd over HTTP, at `/terminal/{project_id}`: its page, and the token that its page asks for. WebSockets are
// the dialects' matter.

import { type Context, Hono } from "hono";
import { grantOfAttachTicket } from "../attach/grant.ts";
import type { EntrySettings } from "../auth/entry-settings.ts";
import { openProject, type Project } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { type AttachTicket, openTicket } from "../auth/ticket.ts";
import type { ProjectAccessEnv } from "../guards/authorize-project.ts";
import { type Authenticated, identify, requireUnrevoked } from "../guards/identify.ts";
import { AuthFault } from "../refusal/fault.ts";
import { refuseHttp } from "../refusal/refusal.ts";
import { terminalGate } from "../terminal/gate.ts";
import { parseTerminalAddress } from "../terminal/path.ts";
import type { TtydEnv } from "../terminal/proxy.ts";
import { NOT_RUNNING } from "../terminal/relay.ts";
import { readTerminalSettings, type TtydSettings } from "../terminal/settings.ts";
import { ttydAddress } from "../terminal/ttyd-address.ts";
import { readBasic } from "../terminal/ttyd-token.ts";
import { askTtyd } from "../terminal/upstream.ts";
import { attachTicket, target } from "./tickets.ts";

/**
 * A page out of a sandbox is not ours: it runs in an origin of its own, where it has neither our cookie nor our storage.
 * The page may use inline styles and scripts, and connect to our server only.
 */
const FOREIGN_PAGE_POLICY = [
  "sandbox allow-scripts allow-modals allow-downloads",
  "default-src 'self' 'unsafe-inline' data: blob:",
  "frame-ancestors 'none'",
].join("; ");

/** The Origin that a browser gives for a page under that policy. */
const ORIGIN_OF_ITS_OWN = "null";

type TerminalRoutesEnv = ProjectAccessEnv & TtydEnv;
type TerminalContext = Context<{ Bindings: TerminalRoutesEnv }>;

export const terminalRoutes = new Hono<{ Bindings: TerminalRoutesEnv }>();

terminalRoutes.all("/terminal/*", async (c, next) => {
  if (c.req.header("Upgrade")?.toLowerCase() === "websocket") return next();
  // As it was sent: `c.req.path` is decoded in part.
  const address = parseTerminalAddress(new URL(c.req.url).pathname, false);
  if (address === undefined) return next();
  const { ttyd } = readTerminalSettings(c.env);
  if (ttyd !== undefined) {
    if (address.part === "page") return pageOfTtyd(c, ttyd, address.project);
    const { project } = await admitted(c, address.project);
    return passedOn(c, ttyd, project, "/token");
  }
  if (address.part === "token") {
    const basic = readBasic(c.req.raw, readEntrySettings(c.env));
    if (basic !== undefined) await identify(basic.request, c.env);
    // As a ttyd says it: the text that its client says first, nothing where that has no password.
    return c.body(`{"token": ${JSON.stringify(basic?.credentials ?? "")}}`, 200, {
      "Content-Type": "application/json;charset=utf-8",
      "Cache-Control": "no-store",
    });
  }
  // ttyd's page comes with ttyd. Ours shows the same session.
  const query = new URLSearchParams({ sandbox: address.project, session: c.req.query("session") || "main" });
  return c.redirect(`/?${query}`);
});

/**
 * A page out of the sandbox has no cookie of ours to connect with, and must not read a token in its own address: it is given
 * a ticket there, good for one connection to this terminal.
 */
async function pageOfTtyd(c: TerminalContext, ttyd: TtydSettings, sandbox: string): Promise<Response> {
  const settings = readEntrySettings(c.env);
  const session = c.req.query("session") || "main";
  const shown = await goodTicket(c.req.query("ticket"), settings);
  if (shown?.sandbox === sandbox && shown.session === session) {
    const { tenant, user } = shown;
    await requireUnrevoked(c.env, tenant, shown.maker, grantOfAttachTicket(shown, shown.origin).own);
    return passedOn(c, ttyd, await openProject(c.env, { tenant, asked: { user } }, sandbox), "/");
  }
  const { identity, isAmbient, project } = await admitted(c, sandbox);
  if (!isAmbient) return passedOn(c, ttyd, project, "/");
  const where = target(identity, sandbox, session, "driver");
  const { ticket } = await attachTicket(identity, where, ORIGIN_OF_ITS_OWN, settings, project.user);
  return c.redirect(`${c.req.path}?${new URLSearchParams({ session, ticket })}`);
}

/** @returns The ticket of a page that was sent here with it; undefined for none, or one that is good no more. */
async function goodTicket(text: string | undefined, settings: EntrySettings): Promise<AttachTicket | undefined> {
  if (text === undefined) return undefined;
  try {
    const ticket = await openTicket(text, settings.sessionSecret);
    return ticket.kind === "attach" && ticket.origin === ORIGIN_OF_ITS_OWN ? ticket : undefined;
  } catch (error) {
    if (error instanceof AuthFault) return undefined; // Its page is loaded anew: it gets another.
    throw error;
  }
}

type Admitted = Pick<Authenticated, "identity"> & {
  readonly project: Project;
  /** Whether a browser may have brought the credential by itself, or shows it in an address. */
  readonly isAmbient: boolean;
};

/** A caller that comes with a token or a cookie, and may come. @throws {AuthFault} */
async function admitted(c: TerminalContext, sandbox: string): Promise<Admitted> {
  const basic = readBasic(c.req.raw, readEntrySettings(c.env));
  const { identity, source, token } = await identify(basic?.request ?? c.req.raw, c.env, true);
  terminalGate(c.env, { mayExec: identity.scopes.has("sandbox:exec") }, c.req.query("role"));
  const project = await openProject(c.env, { tenant: identity, token }, sandbox);
  return { identity, project, isAmbient: basic !== undefined || source !== "authorization" };
}

async function passedOn(
  c: TerminalContext,
  ttyd: TtydSettings,
  { sandboxKey }: Project,
  path: "/" | "/token",
): Promise<Response> {
  const answer = await askTtyd(c.env, ttydAddress(ttyd, sandboxKey), path);
  if (answer === undefined) {
    return refuseHttp({ code: NOT_RUNNING.code, error: "not_running", message: NOT_RUNNING.reason });
  }
  const headers = new Headers({
    "Content-Type": answer.headers.get("Content-Type") ?? "application/octet-stream",
    "Content-Security-Policy": FOREIGN_PAGE_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  });
  return new Response(answer.body, { status: answer.status, headers });
}
