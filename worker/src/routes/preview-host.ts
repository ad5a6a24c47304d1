// Everything that is asked of a preview's host. No route of ours is there: all but the entrance goes to the sandbox's server.

import { logRefused } from "../audit/worker-log.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { log } from "../base/log.ts";
import { admit, enter, type GateEnv } from "../preview/gate.ts";
import { isForPerson, personsPage, said } from "../preview/pages.ts";
import { type PreviewPass, passCookieName } from "../preview/pass.ts";
import { type PortEnv, portRefusal } from "../preview/ports.ts";
import { type ProxyEnv, passOn } from "../preview/proxy.ts";
import { type PreviewEnv, type PreviewSettings, readPreviewSettings, requestedLabel } from "../preview/settings.ts";
import { AuthFault, logFault, refusal } from "../refusal/fault.ts";
import { ENTRANCE } from "./previews.ts";

type HostEnv = GateEnv & PortEnv & PreviewEnv & ProxyEnv;

/** Answers a request to a preview's host. @returns undefined for a request to any other host. */
export async function answerPreview(request: Request, env: HostEnv): Promise<Response | undefined> {
  try {
    const previews = readPreviewSettings(env);
    const label = previews === undefined ? undefined : requestedLabel(request, previews);
    if (previews === undefined || label === undefined) return undefined;
    return await answer(request, env, previews, label);
  } catch (error) {
    if (error instanceof AuthFault) {
      logRefused(request, error);
      if (!isForPerson(request)) return refusal(error);
      logFault(error);
      return personsPage(error.status, "This preview is not open", `${error.message}.`);
    }
    log.error("a preview failed:", error);
    return said(request, 500, "internal", "Something went wrong here", "The log says more.");
  }
}

async function answer(request: Request, env: HostEnv, previews: PreviewSettings, label: string): Promise<Response> {
  const settings = readEntrySettings(env);
  const origin = previews.originOf(label);
  if (new URL(request.url).pathname === ENTRANCE) return enter(request, env, settings, label, origin);
  const admission = await admit(request, env, settings, label, origin);
  const { pass } = admission;
  if (admission.kind === "ended") {
    if (isForPerson(request)) return toAnotherPass(request, settings.linkBase, pass);
    throw new AuthFault("expired", "The preview's time is over: load its page again");
  }
  const refused = portRefusal(env, pass.port, pass.isAdmin);
  if (refused !== undefined) return said(request, 403, refused.error, "Not shown", refused.message);
  const ends = { origin, port: pass.port, cookie: passCookieName(settings) };
  return passOn({ request, pass, sandboxKey: admission.sandboxKey, ends }, env);
}

/** Back to where the login counts, which leads here again. */
function toAnotherPass(request: Request, linkBase: string, { sandbox, port }: PreviewPass): Response {
  const { pathname, search } = new URL(request.url);
  const headers = {
    Location: `${linkBase}/preview/${sandbox}/${port}${pathname}${search}`,
    "Cache-Control": "no-store",
  };
  return new Response(null, { status: 302, headers });
}
