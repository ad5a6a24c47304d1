// Network errors in words, and which way calls go.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { networkReason } from "../../src/base/network-errors.ts";
import { unusedProxy } from "../../src/connection/direct-fetch.ts";

const coded = (code: string, message = "") => Object.assign(new Error(message), { code });

test("TLS spoken to what speaks none is told in words, and what to do about it", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const error: unknown = await fetch(`https://127.0.0.1:${port}`).catch((failure: Error) => failure.cause);
  if (!(error instanceof Error)) throw new Error("It answered");
  const words = "the server does not speak TLS; try http://";
  expect(networkReason(error)).toBe(words);
  // As Bun says it, and as Node does of a WebSocket.
  expect(
    networkReason(coded("EPROTO", "EPROTO: The TLS handshake failed. Does the server speak TLS on this port?")),
  ).toBe(words);
  expect(networkReason(coded("EPROTO", "write EPROTO 400D:error:0A00010B:SSL routines::wrong version number:"))).toBe(
    words,
  );
});

test("a certificate that is not trusted, or for another name, is told as that", () => {
  expect(networkReason(coded("DEPTH_ZERO_SELF_SIGNED_CERT", "self signed"))).toMatch(/^its certificate is not trusted/);
  expect(networkReason(coded("ERR_TLS_CERT_ALTNAME_INVALID", "x"))).toBe("its certificate is for another host name");
  expect(networkReason(coded("EOTHER", "as it\nis"))).toBe("as it is");
});

test("a proxy of the environment is named by the variable that would count for the address", () => {
  const env = { HTTP_PROXY: "http://a", https_proxy: "http://b" };
  expect(unusedProxy(new URL("http://h"), env)).toBe("HTTP_PROXY");
  expect(unusedProxy(new URL("https://h"), env)).toBe("https_proxy");
  expect(unusedProxy(new URL("https://h"), { HTTP_PROXY: "http://a", HTTPS_PROXY: "" })).toBeUndefined();
});
