// What a copy that goes on leaves out, what its line says, and what is said of a file that is not there.

import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { bytesOf, missing, parseListing } from "../../src/transfer/copy-listing.ts";
import { progressText } from "../../src/transfer/copy-progress.ts";
import { cleanEnv, collect, PROGRAM, RUNTIME, runCli, scratch, startCli, until } from "../fixture/cli.ts";
import { startServer, TOKEN } from "../fixture/server.ts";
import { Terminal } from "../fixture/tmux.ts";

test("a file is left out where size and time are the same; folders and links never are", () => {
  const wanted = parseListing("5 100.25 ./a\0" + "6 100.0 ./b\nc\0" + "0 -1 ./folder\0" + "7 100 ./d\0");
  const had = parseListing("5 100.75 ./a\0" + "6 101.0 ./b\nc\0" + "0 -1 ./folder\0");
  expect(missing(wanted, had)).toEqual(["./b\nc", "./folder", "./d"]);
  expect([bytesOf(wanted), bytesOf(wanted, ["./b\nc", "./d"])]).toEqual([18, 13]);
});

test("progress says how much of how much, and how fast", () => {
  expect(progressText(1_500_000, 3_000_000, 1_000)).toBe("1.5 MB of 3.0 MB  50%  1.5 MB/s");
  expect(progressText(3_100_000, 3_000_000, 2_000)).toBe("3.0 MB of 3.0 MB  100%  1.6 MB/s");
  expect(progressText(999, undefined, 1_000)).toBe("999 B  999 B/s");
});

test("what is not in the sandbox is said in one line, and nothing is written here; a link in a folder is copied", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [there, here] = [scratch(), scratch()];
  const missingWords = { code: 255, stdout: "", stderr: `sbx-stdio: no such file in the sandbox: ${there}/none/x\n` };
  expect(await runCli(["cp", server.url, `:${there}/none/x`, here])).toEqual({ ...missingWords, signal: null });
  expect(await runCli(["cp", server.url, `:${there}/none/x`, join(here, "new")])).toMatchObject(missingWords);
  expect(readdirSync(here)).toEqual([]);
  mkdirSync(join(there, "folder"));
  symlinkSync("nowhere", join(there, "folder/link"));
  writeFileSync(join(there, "-rf"), "words");
  expect(await runCli(["cp", server.url, `:${there}/folder`, here])).toMatchObject({ code: 0, stderr: "" });
  const leadsOut = "sbx-stdio: skipped: ./link: its target is not copied\n";
  expect(await runCli(["cp", server.url, `:${there}/folder/link`, here])).toMatchObject({
    code: 255,
    stderr: leadsOut,
  });
  expect(await runCli(["cp", server.url, `:${there}/-rf`, join(here, "new")])).toMatchObject({ code: 0, stderr: "" });
  expect(readlinkSync(join(here, "folder/link"))).toBe("nowhere");
  expect(readFileSync(join(here, "new"), "utf8")).toBe("words");
  expect(readdirSync(here).sort()).toEqual(["folder", "new"]);
  // By which ls knows them.
  for (const query of server.queries) expect(query.get("session")).toMatch(/^cp-[0-9a-v]{8}$/);
});

test("cp with - streams a file's bytes, in and out; a folder, and what is not there, is said", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const there = scratch();
  const cp = (words: readonly string[], input = "") => runCli(["cp", server.url, ...words], input);
  expect(await cp(["-", `:${there}/new/-x`], "words\n")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(join(there, "new/-x"), "utf8")).toBe("words\n");
  expect(readdirSync(join(there, "new"))).toEqual(["-x"]);
  expect(await cp([`:${there}/new/-x`, "-"])).toMatchObject({ code: 0, stdout: "words\n", stderr: "" });
  const missingWords = `sbx-stdio: no such file in the sandbox: ${there}/none\n`;
  expect(await cp([`:${there}/none`, "-"])).toMatchObject({ code: 255, stdout: "", stderr: missingWords });
  expect(await cp([`:${there}`, "-"])).toMatchObject({ code: 255, stderr: expect.stringContaining("is a folder") });
  expect(await cp(["-", `:${there}`], "x")).toMatchObject({
    code: 255,
    stderr: expect.stringContaining("is a folder"),
  });
  expect(readdirSync(there)).toEqual(["new"]);
});

test("cp of - keeps a link and a mode, writes a device as it is, and what is killed leaves no hidden name", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const there = scratch();
  const cp = (to: string, input: string) => runCli(["cp", server.url, "-", `:${there}/${to}`], input);
  writeFileSync(join(there, "file"), "old", { mode: 0o750 });
  symlinkSync("file", join(there, "link"));
  symlinkSync("/dev/null", join(there, "null"));
  const [file, device] = await Promise.all([cp("link", "new"), cp("null", "words")]);
  expect([file, device]).toMatchObject([
    { code: 0, stderr: "" },
    { code: 0, stderr: "" },
  ]);
  expect([readFileSync(join(there, "file"), "utf8"), statSync(join(there, "file")).mode & 0o777]).toEqual([
    "new",
    0o750,
  ]);
  expect([readlinkSync(join(there, "link")), readlinkSync(join(there, "null"))]).toEqual(["file", "/dev/null"]);
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  // Two at once, of which one is ended.
  const hidden = () => readdirSync(there).filter((name) => name.startsWith("."));
  const two = [1, 2].map(() => startCli(["cp", server.url, "-", `:${there}/x`]));
  for (const child of two) child.stdin?.write("w");
  // What is typed has arrived: both know their process, and pass a signal on.
  await until(
    () => hidden().filter((name) => statSync(join(there, name)).size === 1).length === 2,
    () => `hidden: ${hidden().join(" ")}`,
  );
  const over = two.map((child) => collect(child));
  two[0]?.kill("SIGINT");
  await until(
    () => hidden().length === 1,
    () => `hidden: ${hidden().join(" ")}`,
  );
  two[1]?.stdin?.end("hole");
  expect(await Promise.all(over)).toMatchObject([{ signal: "SIGINT" }, { code: 0, stderr: "" }]);
  expect(readdirSync(there).sort()).toEqual(["file", "link", "null", "x"]);
  expect(readFileSync(join(there, "x"), "utf8")).toBe("whole");
  expect(readFileSync(join(there, "x"), "utf8")).toBe("whole");
});

test("cp takes several into a folder, in and out; one that is not there copies none, with one code on either side", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [here, there, back] = [scratch(), scratch(), scratch()];
  const names = ["a", "-b", "back\\slash", "sub"];
  for (const name of names.slice(0, 3)) writeFileSync(join(here, name), name);
  mkdirSync(join(here, "sub"));
  writeFileSync(join(here, "sub/c"), "c");
  const cp = (...words: string[]) => runCli(["cp", server.url, ...words]);
  const sources = ["a", "-b", "back\\slash", "sub"].map((name) => join(here, name));
  const none = { code: 255, stdout: "" };
  expect(await cp(...sources, join(here, "none"), `:${there}/d`)).toMatchObject(none);
  const noneThere = await cp(...sources.map((one) => `:${one}`), `:${there}/none`, back);
  expect(noneThere).toMatchObject({ ...none, stderr: `sbx-stdio: no such file in the sandbox: ${there}/none\n` });
  expect([readdirSync(there), readdirSync(back)]).toEqual([[], []]);
  expect(await cp(...sources, join(here, "sub/c"), `:${there}/d`)).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(join(there, "d")).sort()).toEqual(["-b", "a", "back\\slash", "c", "sub"]);
  const remote = ["-b", "a", "back\\slash", "sub"].map((name) => `:${there}/d/${name}`);
  for (const resume of [[], ["--resume"]]) {
    expect(await cp(...resume, ...remote, join(back, "e"))).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(join(back, "e")).sort()).toEqual(["-b", "a", "back\\slash", "sub"]);
    expect(readFileSync(join(back, "e/sub/c"), "utf8")).toBe("c");
  }
  expect(await cp("--resume", ...sources, `:${there}/d/`)).toMatchObject({ code: 0, stderr: "" });
  const twice = await cp(join(here, "a"), join(here, "sub/../a"), join(here, "sub"), `:${there}`);
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("two sources are named a") });
});

test("what the file system here refuses to cp is said in a line", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const here = scratch();
  writeFileSync(join(here, "file"), "words");
  const folder = openSync(here, "r");
  onTestFinished(() => closeSync(folder));
  const cp = (stdin: "ignore" | number, ...words: string[]) =>
    collect(startCli(["cp", server.url, ...words], { stdio: [stdin, "pipe", "pipe"] }));
  const several = [`:${here}/file`, ":/bin/sh", join(here, "file")];
  const [into, below, input] = await Promise.all([
    cp("ignore", ...several),
    cp("ignore", `:${here}/file`, join(here, "file/below/")),
    cp(folder, "-", `:${here}/new`),
  ]);
  const line = (start: string) => expect.stringMatching(new RegExp(`^sbx-stdio: cannot copy ${start}[^\\n]*\\n$`));
  expect(into).toMatchObject({ code: 255, stderr: line("into .*file: not a folder") });
  expect(below).toMatchObject({
    code: 255,
    stderr: expect.stringMatching(/^sbx-stdio: cannot copy: [A-Z]+: [^\n]*\n$/),
  });
  expect(input).toMatchObject({
    code: 255,
    stderr: expect.stringMatching(/^sbx-stdio: cannot read standard input: EISDIR[^\n]*\n$/),
  });
  expect(readdirSync(here)).toEqual(["file"]);
});

test("what the sandbox refuses is said of what was asked for, and a pattern that no shell reads is named as one", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [there, here] = [scratch(), scratch()];
  const file = join(here, "file");
  writeFileSync(file, "words");
  writeFileSync(join(there, "a[1]"), "words");
  const cp = (from: string, to: string) => runCli(["cp", server.url, from, to]);
  const refused = (words: string) => ({
    code: 255,
    stdout: "",
    stderr: expect.stringMatching(new RegExp(`^${words}\n$`)),
  });
  const folder = `sbx-stdio: cannot copy to ${file}/x/ in the sandbox: cannot create directory [^\n]+`;
  expect(await cp(file, `:${file}/x/`)).toMatchObject(refused(folder));
  expect(await cp("-", `:${file}/x`)).toMatchObject(refused(folder.replace("x/ in", "x in")));
  const pattern = "\\(patterns are not expanded in the sandbox: name each file, or copy the folder\\)";
  const missingWords = refused(`sbx-stdio: no such file in the sandbox: ${there}/\\*.txt ${pattern}`);
  for (const to of [here, "-"]) expect(await cp(`:${there}/*.txt`, to)).toMatchObject(missingWords);
  expect(await cp(`:${there}/a[1]`, "-")).toMatchObject({ code: 0, stdout: "words" });
});

test("words of tar's own are said to be tar's", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [there, here, bin] = [scratch(), scratch(), scratch()];
  const file = join(there, "file");
  writeFileSync(file, "words");
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(join(bin, "tar"), "#!/bin/sh\ncat > /dev/null\necho tar: no room >&2\nexit 2\n", { mode: 0o755 });
  const { code, stderr } = await runCli(["cp", server.url, file, `:${here}/`]);
  expect([code, stderr]).toEqual([
    255,
    `tar: no room\ntar: no room\nsbx-stdio: cannot copy ${file} to :${here}/: see the message of tar in the sandbox above\n`,
  ]);
});

test("a cp that a signal ends says that --resume goes on, and dies by the signal", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [here, there, bin] = [scratch(), scratch(), scratch()];
  writeFileSync(join(here, "file"), "words");
  // It packs nothing for as long as the copy runs.
  writeFileSync(join(bin, "tar"), "#!/bin/sh\nexec tail --pid=$PPID -f /dev/null\n", { mode: 0o755 });
  const child = startCli(["cp", server.url, join(here, "file"), `:${there}/`], {
    env: { ...cleanEnv(), PATH: `${bin}:${process.env.PATH}` },
  });
  const over = collect(child);
  await until(
    () => [...server.hosts.values()][0]?.session.attachedCount,
    () => "nobody has attached",
  );
  child.kill("SIGTERM");
  const { code, signal, stderr } = await over;
  expect([code, signal]).toEqual([null, "SIGTERM"]);
  expect(stderr).toContain("sbx-stdio: interrupted: repeat the command with --resume to copy the rest\n");
  expect(readdirSync(there).filter((name) => name !== ".file.sbx-cp")).toEqual([]);
});

test("a tar that dies here between two files is not taken for the whole", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [here, there, bin] = [scratch(), scratch(), scratch()];
  mkdirSync(join(here, "folder"));
  execFileSync("tar", ["cf", join(bin, "packed"), "./folder"], { cwd: here });
  // The folder alone, without the archive's end, as where memory runs out.
  writeFileSync(join(bin, "tar"), `#!/bin/sh\nhead -c 512 ${bin}/packed\nkill -KILL $$\n`, { mode: 0o755 });
  const env = { ...cleanEnv(), PATH: `${bin}:${process.env.PATH}` };
  const over = await runCli(["cp", server.url, join(here, "folder"), `:${there}/new`], "", env);
  expect(existsSync(join(there, "new"))).toBe(false);
  expect(over).toMatchObject({ code: 255, stderr: expect.stringContaining("the local tar was killed by SIGKILL") });
});

test("a sandbox whose tar packs more than was asked for writes nothing beside it", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [there, here, bin] = [scratch(), scratch(), scratch()];
  for (const name of ["file", ".bashrc"]) writeFileSync(join(there, name), name);
  execFileSync("tar", ["cf", join(bin, "packed"), "./.bashrc", "./file", "./.bashrc"], { cwd: there });
  writeFileSync(join(bin, "tar"), `#!/bin/sh\ncat ${bin}/packed\n`, { mode: 0o755 });
  const env = cleanEnv();
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await runCli(["cp", server.url, `:${there}/file`, here], "", env)).toMatchObject({ code: 0 });
  expect(await runCli(["cp", server.url, `:${there}/file`, join(here, "new")], "", env)).toMatchObject({ code: 0 });
  expect(readdirSync(here).sort()).toEqual(["file", "new"]);
  // As on a disk that is full: tar's own code would be that of wrong usage.
  writeFileSync(join(bin, "tar"), "#!/bin/sh\nexit 2\n", { mode: 0o755 });
  for (const ends of [
    [`:${there}/file`, here],
    [join(there, "file"), `:${here}/`],
  ]) {
    expect(await runCli(["cp", server.url, ...ends], "", env)).toMatchObject({ code: 255 });
  }
});

test("cp draws its progress over itself, in a narrow window too, and a line about the connection stands alone", async () => {
  const server = await startServer();
  const [there, here, bin] = [scratch(), scratch(), scratch()];
  const terminal = new Terminal(30, 20);
  onTestFinished(() => {
    terminal.close();
    return server.close();
  });
  writeFileSync(join(here, "big"), new Uint8Array(8_000_000));
  // It reads nothing until it is let go on.
  writeFileSync(join(bin, "tar"), `#!/bin/sh\nread x < ${bin}/go\nPATH=${process.env.PATH} exec tar "$@"\n`, {
    mode: 0o755,
  });
  execFileSync("mkfifo", [join(bin, "go")]);
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await terminal.shows(/^local\$/m);
  terminal.runCli(`cp ${server.url} ${here}/big :${there}/`);
  await terminal.shows(/^[\d.]+ [kM]B of 8\.0 MB/m);
  await until(
    () => [...server.hosts.values()][0]?.session.attachedCount,
    () => "nobody has attached",
  );
  server.cut();
  await terminal.shows(/^sbx-stdio: .*nothing lost/m);
  writeFileSync(join(bin, "go"), "on\n");
  const screen = await terminal.shows(/100%[\s\S]*^local\$ *$/m);
  // What was typed stands there, too.
  const drawn = screen.split("\n").filter((line) => /\d [kM]?B\b|%/.test(line));
  expect(drawn).toEqual([expect.stringMatching(/^8\.0 MB of 8\.0 MB {2}100%/)]);
  expect(screen).toMatch(/^sbx-stdio: /m);
});

test("a token command of cp may pipe through this program itself", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const [there, here] = [scratch(), scratch()];
  writeFileSync(join(here, "file"), "words");
  const own = `${RUNTIME} ${PROGRAM} ${server.url} --token ${TOKEN} -- cat`;
  const env = cleanEnv({ SBX_TOKEN: "" });
  const words = ["cp", server.url, "--token-command", `echo ${TOKEN} | ${own}`, join(here, "file"), `:${there}/new`];
  expect(await runCli(words, "", env)).toMatchObject({ code: 0 });
  expect(readFileSync(join(there, "new"), "utf8")).toBe("words");
});
