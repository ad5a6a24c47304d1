// The local issuer's pages, as HTML text. Plain forms, no script; everything from outside is escaped here.

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { width: min(24rem, 90vw); }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
label { display: block; margin-top: 1rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem; }
.row { display: flex; gap: .5rem; margin-top: 1rem; flex-wrap: wrap; }
button { font: inherit; padding: .4rem 1rem; cursor: pointer; }
.note { opacity: .75; font-size: .9rem; }
[role=alert] { color: light-dark(#b00020, #ff8a8a); }`;

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
