// The variables about recordings: what they say, and what is refused.
import { expect, test } from "vitest";
import { readRecordingSettings, recordingRefusal } from "../../src/attach/recording-settings.ts";

test("G1: without any variable nothing is recorded, for a week and 64 MiB a session, or 1 GiB in a bucket", () => {
  const usual = { mode: "off", keptMs: 7 * 86_400_000, maxBytes: 64 * 1024 * 1024, patterns: [] };
  expect(readRecordingSettings({})).toEqual(usual);
  expect(readRecordingSettings({ RECORDINGS: {} as R2Bucket }).maxBytes).toBe(1024 * 1024 * 1024);
  const given = { RECORDING: "ask", RECORDING_DAYS: "1", RECORDING_BYTES: "4194304", RECORDING_REDACT: "a+\n\n b \n" };
  const { patterns, ...rest } = readRecordingSettings(given);
  expect(rest).toEqual({ mode: "ask", keptMs: 86_400_000, maxBytes: 4_194_304 });
  expect(patterns.length).toBe(2);
});

test.each([
  ["RECORDING", "yes"],
  ["RECORDING_DAYS", "-7"],
  ["RECORDING_DAYS", "1.5"],
  ["RECORDING_BYTES", "1000"],
  ["RECORDING_REDACT", "secret("],
  ["RECORDING_REDACT", "(?=ahead)"],
  ["RECORDING_REDACT", "x\n".repeat(21)],
])("G1: %s %j is refused by its name, never with its value", (name, value) => {
  const read = () => readRecordingSettings({ [name]: value });
  expect(read).toThrow(name);
  expect(read).not.toThrow(value);
});

test("G1: a start that asks for a recording is refused where there are none, and only then", () => {
  expect(recordingRefusal({}, true)).toMatchObject({ code: 4403, error: "recording_off" });
  expect([recordingRefusal({}, false), recordingRefusal({}, undefined)]).toEqual([undefined, undefined]);
  expect(recordingRefusal({ RECORDING: "ask" }, true)).toBeUndefined();
});
