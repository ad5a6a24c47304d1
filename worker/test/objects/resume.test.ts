// Whose a client is that has no proof yet.
import { expect, test } from "vitest";
import { ResumeSigner } from "../../src/attach/resume.ts";

test("R10: all connections of one life of one person in one role have one id, and no others have it", () => {
  const [here, elsewhere] = [new ResumeSigner("secret", "session"), new ResumeSigner("secret", "another session")];
  const id = here.newId("life", "alice", "driver");
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(new ResumeSigner("secret", "session").newId("life", "alice", "driver")).toBe(id);
  const others = [
    here.newId("life2", "alice", "driver"),
    here.newId("life", "bob", "driver"),
    here.newId("life", "alice", "viewer"),
    elsewhere.newId("life", "alice", "driver"),
    new ResumeSigner("another secret", "session").newId("life", "alice", "driver"),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
});
