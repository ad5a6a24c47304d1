// Addresses: what the page reads from its own, and what it asks the server for. No browser.

import { describe, expect, test } from "vitest";
import { isBare, randomSessionName, readPageAddress, withSession, withTabs } from "../../src/app/page-address.ts";
import { attachAddress, attachProtocols, ticketOf } from "../../src/connection/attach-address.ts";

const PAGE = "https://sbx.example/?x=1#y";

describe("the address of an attach", () => {
  test("is a WebSocket's, with what the client knows and the window's size", () => {
    const known = new Map([
      ["session", "main"],
      ["resume", "r 1"],
      ["offset", "7"],
    ]);
    expect(attachAddress("/attach?sandbox=dev", PAGE, known, { cols: 100, rows: 30 })).toBe(
      "wss://sbx.example/attach?sandbox=dev&session=main&resume=r+1&offset=7&cols=100&rows=30",
    );
    expect(attachAddress("http://localhost:1/attach", PAGE, new Map(), undefined)).toBe("ws://localhost:1/attach");
    expect(attachAddress("wss://other/attach?a=1#x", PAGE, new Map(), undefined)).toBe("wss://other/attach?a=1");
  });

  test("takes no target in a log from the address it is made of", () => {
    const base = "/attach?session=old&resume=r&offset=3&cmd=top";
    expect(attachAddress(base, PAGE, new Map([["session", "new"]]), undefined)).toBe(
      "wss://sbx.example/attach?cmd=top&session=new",
    );
  });

  test("has token and ticket beside the protocol's name, where a subprotocol may hold them", () => {
    expect(attachProtocols(undefined, undefined)).toEqual(["stdio.v1"]);
    expect(attachProtocols("eyJ.a-b_c", "s.x-_y")).toEqual(["stdio.v1", "bearer.eyJ.a-b_c", "ticket.s.x-_y"]);
    const bad = ["a b", "a,b", "a="];
    expect(bad.map((secret) => attachProtocols(secret, undefined))).toEqual([undefined, undefined, undefined]);
    expect(bad.map((secret) => attachProtocols(undefined, secret))).toEqual([undefined, undefined, undefined]);
  });

  test("holds no ticket: that goes beside the protocol's name too (T1)", () => {
    const base = "/attach?sandbox=dev&ticket=s.one&role=viewer";
    expect(ticketOf(base, PAGE)).toBe("s.one");
    expect(ticketOf("/attach?sandbox=dev", PAGE)).toBe(undefined);
    expect(attachAddress(base, PAGE, new Map(), undefined)).toBe("wss://sbx.example/attach?sandbox=dev&role=viewer");
  });
});

describe("the page's own address", () => {
  test("that says nothing is the default sandbox and a session that is made up", () => {
    expect(readPageAddress("", () => "made")).toEqual({
      sandbox: "default",
      session: "made",
      attachUrl: "/attach?sandbox=default",
      search: "?session=made",
      actions: [],
      renderer: "auto",
      isDebug: false,
      hasTabs: false,
    });
  });

  test("among a person's tabs names the session and runs nothing; a ticket's has no tabs", () => {
    const search = withTabs("?cmd=rm&arg=-rf&role=viewer&name=Ann&debug=1&session=old", {
      sandbox: "dev",
      session: "s",
    });
    expect(search).toBe("?name=Ann&debug=1&session=s&sandbox=dev&tabs=1");
    expect(readPageAddress(search, () => "")).toMatchObject({ hasTabs: true, actions: [], isDebug: true });
    expect(readPageAddress(search, () => "", "s.ticket").hasTabs).toBe(false);
    expect(["", "?debug=1", "?sandbox=a", "?session=b", "?cmd=c"].map(isBare)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test("passes on what describes the process, and asks for a PTY where it names a command", () => {
    const { attachUrl } = readPageAddress("?sandbox=dev&session=s&cmd=ls&arg=-l&arg=a+b&env=A%3DB&keep=5", () => "");
    expect(attachUrl).toBe("/attach?sandbox=dev&cmd=ls&arg=-l&arg=a+b&env=A%3DB&keep=5&tty=1");
    expect(readPageAddress("?session=s&cmd=ls&tty=0", () => "").attachUrl).toBe("/attach?sandbox=default&cmd=ls&tty=0");
  });

  test("never passes on a credential or a target that a link may hold", () => {
    const search = "?session=s&token=t&ticket=u&resume=r&offset=1";
    expect(readPageAddress(search, () => "").attachUrl).toBe("/attach?sandbox=default");
  });

  test("says what it would run, quoted as for a shell", () => {
    const search = "?session=s&cmd=sh&arg=-c&arg=rm+-rf+'x'&env=BASH_ENV%3D/tmp/x&cwd=/etc";
    expect(readPageAddress(search, () => "").actions).toEqual([
      { kind: "command", text: "sh -c 'rm -rf '\\''x'\\'''" },
      { kind: "env", text: "BASH_ENV=/tmp/x" },
      { kind: "cwd", text: "/etc" },
    ]);
  });

  test("keeps everything else when the session changes", () => {
    expect(withSession("?sandbox=dev&session=a&renderer=dom", "b")).toBe("?sandbox=dev&session=b&renderer=dom");
  });

  test("makes up names from random bytes, and another each time", () => {
    expect(randomSessionName((bytes) => bytes.fill(0))).toBe("web-aaaaaaaa");
    expect(randomSessionName((bytes) => bytes.fill(255))).toBe("web-99999999");
    expect(new Set(Array.from({ length: 100 }, () => randomSessionName())).size).toBe(100);
  });
});
