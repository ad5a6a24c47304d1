// A browser at the login's routes, as they are mounted in one app.
import type { Hono } from "hono";
import { expect } from "vitest";
import { ORIGIN, type Realm } from "./realm.ts";

/** A browser: it keeps cookies for the public origin and follows no redirect by itself. */
export class Browser {
  readonly realm: Realm;
  readonly #app: Hono;
  readonly cookies = new Map<string, string>();

  constructor(app: Hono, realm: Realm) {
    this.#app = app;
    this.realm = realm;
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookie !== "") headers.set("Cookie", cookie);
    const response = await this.#app.request(new URL(path, ORIGIN).href, { ...init, headers }, this.realm.env);
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const equals = pair.indexOf("=");
      if (attributes.includes("Max-Age=0")) this.cookies.delete(pair.slice(0, equals));
      else this.cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    return response;
  }

  /** Goes to /login and to the issuer; the address at which the issuer sends the browser back. */
  async throughIssuer(path = "/login"): Promise<string> {
    const atIssuer = (await this.request(path)).headers.get("Location") ?? "";
    expect(atIssuer.startsWith(`${this.realm.issuer}/oauth/authorize?`)).toBe(true);
    const response = await fetch(atIssuer, { redirect: "manual" });
    await response.text();
    return response.headers.get("Location") ?? "";
  }

  async me(): Promise<unknown> {
    return (await this.request("/api/me")).json();
  }
}
