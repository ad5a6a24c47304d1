import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { currentIssuer, readRunRecords, writeRunRecord } from "../src/system/run-record.ts";
import { temporaryDirectory } from "./temporary.ts";

const deadPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;
const record = (pid: number, port: number, startedAt: number) => ({
  pid,
  origin: `http://localhost:${port}`,
  issuer: `http://127.0.0.1:${port + 1}`,
  startedAt,
});

test("without any run the issuer is the default one", () => {
  expect(currentIssuer(temporaryDirectory())).toBe("http://127.0.0.1:8710");
});

test("a living run comes before a later one that has ended", () => {
  const dir = temporaryDirectory();
  writeRunRecord(dir, record(process.pid, 9000, 1));
  writeRunRecord(dir, record(deadPid(), 9100, 2));
  expect(readRunRecords(dir).map(({ origin }) => origin)).toEqual(["http://localhost:9000", "http://localhost:9100"]);
  expect(currentIssuer(dir)).toBe("http://127.0.0.1:9001");
});

test("the last run's issuer is remembered after it has ended, and forgotten at the next start", () => {
  const dir = temporaryDirectory();
  writeRunRecord(dir, record(deadPid(), 9100, 2));
  expect(currentIssuer(dir)).toBe("http://127.0.0.1:9101");
  writeRunRecord(dir, record(process.pid, 9000, 1));
  expect(readRunRecords(dir)).toHaveLength(1);
});

test("a record that is not one is passed over", () => {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, "runs"));
  writeFileSync(join(dir, "runs/1.json"), "{");
  writeFileSync(join(dir, "runs/2.json"), "null");
  writeFileSync(join(dir, "runs/3.json"), `{"pid":"1"}`);
  expect(readRunRecords(dir)).toEqual([]);
});
