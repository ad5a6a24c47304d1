// After each test: nothing stays connected.
import { afterEach } from "vitest";
import { dropClients } from "./client.ts";
import { dropEmulatedClients } from "./emulated.ts";
import { dropForeignClients } from "./foreign-client.ts";
import { dropTtydClients } from "./ttyd-client.ts";

afterEach(() => {
  dropClients();
  dropEmulatedClients();
  dropForeignClients();
  dropTtydClients();
});
