// What the Worker had before: users, and logins as signed cookies, or the same as a Bearer token for programs. A real one asks for
// more than a name.
const USERS = {
  ann: { id: "ann", name: "Ann" },
  ben: { id: "ben", name: "Ben" },
  eve: { id: "eve", name: "Eve", isBanned: true },
};

export async function userOf(request, env) {
  const given = `${request.headers.get("Authorization")}; ${request.headers.get("Cookie")}`;
  const [, id, signature] = /(?:^Bearer |; login=)(\w+)\.([0-9a-f]+)/.exec(given) ?? [];
  return id !== undefined && signature === (await sign(id, env)) ? USERS[id] : undefined;
}

export async function answerOfOurs(request, env) {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname !== "/login" || request.method !== "POST") return new Response("what the Worker has always answered");
  const id = searchParams.get("user") ?? "";
  if (!Object.hasOwn(USERS, id)) return new Response("no such user", { status: 401 });
  const cookie = `login=${id}.${await sign(id, env)}; HttpOnly; SameSite=Lax; Path=/`;
  return new Response(null, { status: 204, headers: { "Set-Cookie": cookie } });
}

async function sign(text, env) {
  const bytes = (value) => new TextEncoder().encode(value);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(env.LOGIN_SECRET), algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text)));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
