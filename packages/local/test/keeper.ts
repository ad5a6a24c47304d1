// A program that keeps one child and then waits, for children.test.ts: `keeper.ts LOGFILE CODE...`, where CODE is run by
// `sh -c`. Prints the child's pid once it has started.
import { dirname } from "node:path";
import { ChildKeeper } from "../src/processes/children.ts";

const [logFile = "", code = ""] = process.argv.slice(2);
const keeper = new ChildKeeper();
const child = await keeper.start({
  name: "child",
  command: "/bin/sh",
  args: ["-c", code],
  env: process.env,
  cwd: dirname(logFile),
  logFile,
});
console.log(child.pid);
setInterval(() => undefined, 1000);
