// A client's secret input: when it is told, begins and ends, over breaks and for a program that asks for it.

import { describe, expect, test } from "vitest";
import type { ClientOptions } from "../../src/index.ts";
import { attached, harness, PIPES } from "../support/client-harness.ts";
import { bytes } from "../support/fixtures.ts";

describe("I11: secret input", () => {
  const ON = '{"type":"secret","on":true}';
  const OFF = '{"type":"secret","on":false}';

  /** A greeted client, and what it has sent on its connection, without pings and acknowledgements. */
  function typing(options: Partial<ClientOptions> = {}) {
    const one = attached(PIPES, options);
    const sent = () =>
      one
        .socket()
        .sent.map((frame) => (typeof frame === "string" ? frame : new TextDecoder().decode(frame)))
        .filter((text) => !/"(ping|ack)"/.test(text));
    const again = () => {
      one.cut();
      one.greet(PIPES);
    };
    return { ...one, sent, again };
  }

  test("is told before what is typed, and ended once all that was secret is acknowledged", () => {
    const { client, say, sent } = typing();
    client.setSecret(true);
    client.type(bytes("hunter2"));
    client.setSecret(false);
    expect([client.isSecret, sent()]).toEqual([false, [ON, "hunter2"]]);
    say({ type: "stdin_ack", offset: 6 });
    expect(sent()).toEqual([ON, "hunter2"]);
    say({ type: "stdin_ack", offset: 7 });
    expect(sent()).toEqual([ON, "hunter2", OFF]);
  });

  test("is told again after a break, before what is sent again", () => {
    const { client, sent, again } = typing();
    client.setSecret(true);
    client.type(bytes("hunter2"));
    client.setSecret(false);
    again();
    expect(sent()).toEqual([ON, "hunter2"]);
  });

  test("that is asked for while there is no connection begins with the next", () => {
    const { client, cut, greet, sent } = typing();
    cut();
    client.setSecret(true);
    greet(PIPES);
    expect(sent()).toEqual([ON]);
    client.setSecret(false);
    expect(sent()).toEqual([ON, OFF]);
  });

  test("that is asked for before the first greeting begins with it", () => {
    const { client, greet, texts } = harness();
    client.setSecret(true);
    client.start();
    greet();
    expect([client.isSecret, texts("secret")]).toEqual([true, [JSON.parse(ON)]]);
  });

  test("that is wanted again before it has ended goes on without a word", () => {
    const { client, say, sent } = typing();
    client.setSecret(true);
    client.type(bytes("a"));
    client.setSecret(false);
    client.setSecret(true);
    say({ type: "stdin_ack", offset: 1 });
    expect([client.isSecret, sent()]).toEqual([true, [ON, "a"]]);
  });

  test("that an earlier life of the client asked for goes on, until this one ends it", () => {
    const { client, say, sent, told } = typing({ resume: "proof" });
    say({ type: "secret", on: true });
    expect(told("message").length).toBe(1);
    say({ type: "secret", on: true });
    // Told once, where it changed.
    expect([client.isSecret, sent(), told("message")]).toEqual([true, [], [["message", { type: "secret", on: true }]]]);
    client.setSecret(false);
    expect([client.isSecret, sent()]).toEqual([false, [OFF]]);
  });

  test("that the server does not keep secret is off, and is not asked for by itself again", () => {
    const { client, say, sent, again } = typing();
    client.setSecret(true);
    say({ type: "secret", on: false });
    expect([client.isSecret, sent()]).toEqual([false, [ON]]);
    again();
    expect(sent()).toEqual([]);
  });

  test("whose end was lost with a connection is ended there once what is sent again is acknowledged", () => {
    const { client, say, sent, again } = typing();
    client.setSecret(true);
    client.setSecret(false);
    client.type(bytes("a"));
    again();
    say({ type: "secret", on: true });
    expect(sent()).toEqual(["a"]);
    say({ type: "stdin_ack", offset: 1 });
    expect([client.isSecret, sent()]).toEqual([false, ["a", OFF]]);
  });

  test("that was never on is not ended", () => {
    const { client, sent } = typing();
    client.setSecret(false);
    expect(sent()).toEqual([]);
  });

  test("whose end was lost with a connection is ended on the next", () => {
    const { client, say, sent, again } = typing();
    client.setSecret(true);
    client.setSecret(false);
    again();
    say({ type: "secret", on: true });
    expect([client.isSecret, sent()]).toEqual([false, [OFF]]);
  });

  describe("K13: for a program that asks for a secret", () => {
    /** Has taken it, as the server says. */
    function taken(options: Partial<ClientOptions> = {}) {
      const one = typing(options);
      const { id: you } = one.client.hello?.you ?? { id: "" };
      one.say({ type: "ask", id: "q", writer: "api", reason: "sudo", secret: true });
      one.say({ type: "ask_state", id: "q", by: you });
      return { ...one, over: (answer: string) => one.say({ type: "ask_state", id: "q", answer }) };
    }

    test("begins when it is taken, and ends with it once all is acknowledged", () => {
      const { client, say, sent, over } = taken();
      client.setSecret(false);
      client.type(bytes("hunter2"));
      expect(client.isSecret).toBe(true);
      over("done");
      expect([client.isSecret, sent()]).toEqual([false, [ON, "hunter2"]]);
      say({ type: "stdin_ack", offset: 7 });
      expect(sent()).toEqual([ON, "hunter2", OFF]);
    });

    test("goes on when its time is over, since its person may be typing, and where it was on before", () => {
      const late = taken();
      late.over("expired");
      expect([late.client.isSecret, late.sent()]).toEqual([true, [ON]]);
      const before = typing();
      before.client.setSecret(true);
      before.say({ type: "ask", id: "q", writer: "api", reason: "sudo", secret: true });
      before.say({ type: "ask_state", id: "q", by: before.client.hello?.you.id });
      before.say({ type: "ask_state", id: "q", answer: "done" });
      expect([before.client.isSecret, before.sent()]).toEqual([true, [ON]]);
    });

    test("goes on over a break in which the client has kept the keyboard", () => {
      const { client, cut, greet, sent } = taken();
      cut();
      greet({ ...PIPES, holder: client.hello?.you.id });
      expect([client.isSecret, sent()]).toEqual([true, [ON]]);
    });

    test("ends where the keyboard was given back while the client was away", () => {
      const { client, sent, again } = taken();
      client.type(bytes("hunter2"));
      again();
      expect(sent()).toEqual([ON, "hunter2"]);
      expect(client.isSecret).toBe(false);
    });

    test("does not begin for an ask that is no secret, or that another has taken", () => {
      const { say, sent, client } = typing();
      say({ type: "ask", id: "q", writer: "api", reason: "y?", secret: false });
      say({ type: "ask_state", id: "q", by: client.hello?.you.id });
      say({ type: "ask", id: "r", writer: "b", reason: "sudo", secret: true });
      say({ type: "ask_state", id: "r", by: "another" });
      expect(sent()).toEqual([]);
    });
  });
});
