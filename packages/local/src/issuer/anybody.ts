// The sign-in of a local run: whoever comes says who they are, and is believed.
import type { Admission } from "./admission.ts";
import { escapeHtml } from "./pages.ts";

export const anybody = {
  async decide(form) {
    const sub = (form.get("as") ?? form.get("user") ?? "").trim();
    const org = (form.get("org") ?? "").trim();
    const undecided = (problem: string) => ({ kind: "undecided", problem }) as const;
    if (!/^[\w.@+-]{1,64}$/.test(sub)) return undecided("A user name is 1 to 64 letters, digits and . @ + - _");
    if (!/^[\w.@+-]{0,64}$/.test(org)) return undecided("An organisation is at most 64 letters, digits and . @ + - _");
    return { kind: "approved", person: org === "" ? { sub } : { sub, org } };
  },
  known: () => undefined,
  stillMay: () => true,
  // The first button is the one that Enter presses, so it must be the one without a name of its own.
  fields: (suggestedUser = "alice") => ({
    fields: `<label>User name <input name="user" value="${escapeHtml(suggestedUser)}" autocomplete="username"></label>
<label>Organisation <small>with shared sandboxes</small> <input name="org" value="local" autocomplete="organization"></label>
<div class="row"><button>Log in</button>
<button name="as" value="alice">Continue as alice</button>
<button name="as" value="bob">Continue as bob</button></div>`,
    note: "This login belongs to a local run: it asks for no password and answers on this machine only.",
  }),
  posts: {},
  gets: {},
} satisfies Admission;
