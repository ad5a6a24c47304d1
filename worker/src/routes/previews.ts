// The way from the terminal to a preview: the login counts here, in our own origin, and leads on with a ticket to the preview's.

import { type Context, Hono } from "hono";
import { CLOSE } from "sandbox-stdio/core";
import { requireScope } from "../auth/identity.ts";
import { checkName } from "../auth/names.ts";
import { openProject, type ProjectEnv } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { isForPerson, personsPage } from "../preview/pages.ts";
import { labelOf, passOf, sealPreviewTicket } from "../preview/pass.ts";
import { type PortEnv, portRefusal, readPort } from "../preview/ports.ts";
import { type PreviewEnv, readPreviewSettings } from "../preview/settings.ts";
import { AuthFault } from "../refusal/fault.ts";
import { refuseHttp } from "../refusal/refusal.ts";

/** Where a preview takes its ticket. No server in a sandbox is asked at this path. */
export const ENTRANCE = "/__sbx_preview";
/** A longer one would not fit into the ticket's address. */
const MAX_PATH = 2_000;

type RoutesEnv = IdentifyEnv & ProjectEnv & PortEnv & PreviewEnv;
type PreviewContext = Context<{ Bindings: RoutesEnv }, "/preview/:sandbox/:port/*">;

export const previewRoutes = new Hono<{ Bindings: RoutesEnv }>();

previewRoutes.get("/preview/:sandbox/:port/*", async (c) => {
  try {
    return await leadOn(c);
  } catch (error) {
    if (!(error instanceof AuthFault) || error.status !== 401 || !isForPerson(c.req.raw)) throw error;
    const link = { href: `${readEntrySettings(c.env).linkBase}/`, text: "Log in" };
    return personsPage(401, "Log in first", "Then open the preview again from the terminal.", link);
  }
});

async function leadOn(c: PreviewContext): Promise<Response> {
  const { env } = c;
  const { identity, token } = await identify(c.req.raw, env);
  requireScope(identity, "sandbox:exec");
  const port = readPort(c.req.param("port"));
  const sandbox = checkName("sandbox", c.req.param("sandbox"));
  const { user } = await openProject(env, { tenant: identity, token }, sandbox);
  const refused = portRefusal(env, port, identity.scopes.has("sandbox:admin"));
  if (refused !== undefined) {
    return isForPerson(c.req.raw) ? personsPage(403, "Not shown", refused.message) : refuseHttp(refused);
  }
  const settings = readEntrySettings(env);
  const previews = readPreviewSettings(env);
  if (previews === undefined) {
    const instead = `sbx-stdio forward ${settings.linkBase} --sandbox ${sandbox} ${port}`;
    const message = `there are no previews here, since PREVIEW_HOST is not set; on your own machine: ${instead}`;
    return refuseHttp({ code: CLOSE.notFound, error: "no_previews", message });
  }
  const pass = passOf(identity, sandbox, port, user);
  const ticket = await sealPreviewTicket(pass, pathBehind(c.req.raw), settings);
  const to = `${previews.originOf(labelOf(pass))}${ENTRANCE}?${new URLSearchParams({ ticket })}`;
  const headers = { Location: to, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };
  return new Response(null, { status: 302, headers });
}

/** As it was sent: the router decodes parts of it. */
function pathBehind({ url }: Request): string {
  const { pathname, search } = new URL(url);
  const path = `${/^.*?\/preview\/[^/]+\/[^/]+(\/.*)?$/.exec(pathname)?.[1] ?? "/"}${search}`;
  return path.length <= MAX_PATH ? path : "/";
}
