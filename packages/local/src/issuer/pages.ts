// The local issuer's pages, as HTML text. Plain forms, no script; everything from outside is escaped here.

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/** The page's own ramp and accent: this is what a person sees first. */
const STYLE = `
:root { color-scheme: light dark; font: 14px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  --text: light-dark(#1e2026, #e3e4e9); --faint: light-dark(#5c606c, #9b9eaa); --line: light-dark(#cfd2da, #3a3d47);
  --accent: light-dark(#2456d6, #3566e3); --ring: light-dark(#2456d6, #8ab0ff); }
body { margin: 0; display: grid; place-items: center; min-height: 100dvh; background: light-dark(#f0f1f3, #0f1013); color: var(--text); }
main { box-sizing: border-box; width: min(416px, calc(100vw - 24px)); padding: 24px 32px; border-radius: 12px;
  background: light-dark(#ffffff, #17181c); box-shadow: 0 0 0 1px light-dark(#e0e1e6, #2a2c33), 0 12px 32px rgb(0 0 0 / 18%); }
h1 { font-size: 17px; font-weight: 600; margin: 0 0 6px; }
p { margin: 0; color: var(--faint); }
label { display: block; margin-top: 16px; font-weight: 500; }
label small { color: var(--faint); font-size: 12px; font-weight: 400; }
input { display: block; font: inherit; width: 100%; box-sizing: border-box; margin-top: 4px; padding: 6px 12px; color: inherit;
  border: 1px solid var(--line); border-radius: 6px; background: light-dark(#ffffff, #121317); }
.row { display: flex; gap: 8px; margin-top: 16px; flex-wrap: wrap; }
.row > button { flex: 1 0 auto; }
.row > button:not([name]) { flex-basis: 100%; }
button { font: inherit; padding: 6px 16px; border: 1px solid var(--line); border-radius: 6px;
  background: light-dark(#ebecf0, #24262d); color: inherit; cursor: pointer; }
button:not([name]) { border-color: transparent; background: var(--accent); color: #ffffff; font-weight: 500; }
:is(input, button):focus-visible { outline: 2px solid var(--ring); outline-offset: 1px; }
.note { margin-top: 16px; font-size: 12px; }
[role=alert] { margin-top: 8px; color: light-dark(#b3213c, #ff7a90); }
@media (prefers-contrast: more) { :root { color-scheme: dark; --text: #ffffff; --faint: #e6e6e6; --line: #ffffff; }
  body, main, input, button { background: #000000; } button:not([name]) { background: #ffe14d; color: #000000; } }
@media (forced-colors: active) { main { border: 1px solid CanvasText; } }
@media (pointer: coarse) { :is(input, button) { min-height: 44px; } }`;

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>${body}</main></body>
</html>
`;
}

export interface SignInPage {
  readonly title: string;
  /** One sentence: the client that asks, and its wish. */
  readonly explanation: string;
  /** Path that the form is posted to. */
  readonly action: string;
  /** A code that the person has to see, and may have to type. Absent: the page has no such field. */
  readonly userCode?: string | undefined;
  /** What says who it is, and what stands below the form: HTML. */
  readonly fields: string;
  readonly note: string;
  readonly problem?: string | undefined;
  /** Label of the button that refuses. */
  readonly refusal: string;
}

/** A page on which a person says who they are. The form posts its fields, and `refuse` when that button was used. */
export function signInPage(options: SignInPage): string {
  const code =
    options.userCode === undefined
      ? ""
      : `<label>Code shown by the program
<input name="user_code" value="${escapeHtml(options.userCode)}" autocomplete="off" required></label>`;
  const problem = options.problem === undefined ? "" : `<p role="alert">${escapeHtml(options.problem)}</p>`;
  return page(
    options.title,
    `<p>${escapeHtml(options.explanation)}</p>${problem}
<form method="post" action="${escapeHtml(options.action)}">
${code}
${options.fields}
<div class="row"><button name="refuse" value="1">${escapeHtml(options.refusal)}</button></div>
</form>
<p class="note">${options.note}</p>`,
  );
}

/** A page that only says something. */
export function messagePage(title: string, message: string): string {
  return page(title, `<p>${escapeHtml(message)}</p>`);
}

/** @param formTarget The origin that a form's answer may lead to. */
export function pageHeaders(formTarget: string): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    // Chromium applies form-action to the redirect that answers the form as well, so the client's origin is named too.
    "content-security-policy": `default-src 'none'; style-src 'unsafe-inline'; form-action 'self' ${formTarget}; frame-ancestors 'none'`,
    // Not "no-referrer": browsers would then send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}
