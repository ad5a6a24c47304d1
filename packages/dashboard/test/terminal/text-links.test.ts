// Which words of a line are links.

import fc from "fast-check";
import { expect, test } from "vitest";
import { findServers, findTextLinks, previewAddress, readLocal } from "../../src/terminal/text-links.ts";

const found = (line: string) =>
  findTextLinks(line).map(({ start, end, link }) => {
    const what = link.kind === "path" ? [link.path, link.line, link.column] : [link.local.port, link.local.path];
    return [line.slice(start, end), ...what.filter((each) => each !== undefined)].join(" | ");
  });

test.each<[string, string[]]>([
  ["src/main.ts:12:5 - error TS2304", ["src/main.ts:12:5 | src/main.ts | 12 | 5"]],
  ["  at /work/a-b/c.js:7", ["/work/a-b/c.js:7 | /work/a-b/c.js | 7"]],
  ["see ./README.md, ../x/y and ~/.bashrc.", ["./README.md | ./README.md", "../x/y | ../x/y", "~/.bashrc | ~/.bashrc"]],
  ["main.rs:3: warning", ["main.rs:3 | main.rs | 3"]],
  ["wrote (/tmp/out.log)", ["/tmp/out.log | /tmp/out.log"]],
  ["and/or 1/2 v1.2.3 main.rs 10:30 -- // /", []],
  ["https://example.com/a/b.html", []],
  ["git@example.com:a/b.git", []],
  ["Local: localhost:5173/app?x=1.", ["localhost:5173/app?x=1 | 5173 | /app?x=1"]],
  [
    "on 127.0.0.1:80, [::1]:8080 and 0.0.0.0:3000",
    ["127.0.0.1:80 | 80 | /", "[::1]:8080 | 8080 | /", "0.0.0.0:3000 | 3000 | /"],
  ],
  ["notlocalhost:80 localhost:99999 localhost:0 localhost:80.example.com", []],
])("in %j", (line, links) => {
  expect(found(line)).toEqual(links);
});

test("links of any text lie in it, in order, none over another", () => {
  const part = fc.constantFrom("/", ".", ":", "1", "a", "localhost:", " ", "http://", "~", "-", "é", "[::1]:");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const line = parts.join("");
      let last = 0;
      for (const { start, end } of findTextLinks(line)) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        last = end;
      }
      expect(last).toBeLessThanOrEqual(line.length);
    }),
  );
});

test.each([
  ["http://localhost:3000/a?b#c", { port: 3000, path: "/a?b#c" }],
  ["https://127.0.0.1", { port: 443, path: "/" }],
  ["http://0.0.0.0:8080", { port: 8080, path: "/" }],
  ["http://user@localhost:3000/", undefined],
  ["http://localhost.example.com:3000/", undefined],
  ["ftp://localhost:21/", undefined],
  ["javascript:alert(1)//localhost:3000", undefined],
])("a server in the sandbox: %s", (uri, local) => {
  expect(readLocal(uri)).toEqual(local);
});

const PAGE = "https://sbx.example";

test.each<[string, string | undefined, string | undefined]>([
  ["/app?x#y", "https://{port}--{sandbox}.preview.example", "https://3000--dev.preview.example/app?x#y"],
  ["//evil.example/x", "https://{port}--{sandbox}.preview.example", "https://3000--dev.preview.example/evil.example/x"],
  ["/", "http://{port}.localhost:8788", "http://3000.localhost:8788/"],
  ["/", undefined, undefined],
  ["/", "https://preview.example", undefined],
  ["/", "https://sbx.example/{port}", undefined],
  ["/", "http://{port}.preview.example", undefined],
  ["/", "javascript:{port}", undefined],
  ["/app?x#y", "/preview/{sandbox}/{port}", "https://sbx.example/preview/dev/3000/app?x#y"],
  ["//evil.example/x", "/preview/{sandbox}/{port}", "https://sbx.example/preview/dev/3000/evil.example/x"],
  ["/", "//{port}.evil.example", undefined],
  ["/", "/\\{port}.evil.example", undefined],
])("the preview of %s by %s", (path, template, address) => {
  expect(previewAddress({ port: 3000, path }, "dev", template, PAGE)).toBe(address);
});

test.each([
  ["  ➜  Local:   http://localhost:5173/", ["5173/"]],
  ["Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...", ["8000/"]],
  [" * Running on http://127.0.0.1:5000\n * Running on http://172.17.0.2:5000", ["5000/"]],
  ["https://[::1]:8443/a?b=1#c, http://[::]:80.", ["8443/a?b=1#c", "80/"]],
  ["psql: connecting to localhost:5432, postgres://localhost:5432/db", []],
  ["http://localhost.example:1/ http://u:p@localhost:2/ http://localhost:0/ xhttp://localhost:3/", []],
])("the servers of %j", (text, expected) => {
  expect(findServers(text).map(({ port, path }) => `${port}${path}`)).toEqual(expected);
});
