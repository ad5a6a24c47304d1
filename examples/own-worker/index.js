// An existing Worker with logins of its own, to which terminals were added: what createStdio() is given, and what is exported.
import { Sandbox as SandboxOfTheSdk } from "@cloudflare/sandbox";
import { createStdio } from "sandbox-stdio/worker";
import { answerOfOurs, userOf } from "./ours.js";

const stdio = createStdio({
  prefix: "/terminals",
  authenticate: async (request, env) => {
    const user = await userOf(request, env);
    if (user?.isBanned) return { refused: "You may not use terminals", status: 403 };
    return user && { subject: user.id, name: user.name };
  },
  // getSandbox(env.Sandbox, `${user.id}--${name}`) is the same container.
  sandbox: ({ tenant, name }) => `${tenant}--${name}`,
});

export const { SessionObject, TenantObject, AddressObject, SandboxDirectory } = stdio;
export { ContainerProxy } from "@cloudflare/sandbox";
export class Sandbox extends stdio.withStdio(SandboxOfTheSdk) {}
stdio.answerCallsOf(Sandbox);

export default {
  fetch: (request, env, ctx) =>
    new URL(request.url).pathname.startsWith("/terminals/")
      ? stdio.fetch(request, env, ctx)
      : answerOfOurs(request, env),
};
