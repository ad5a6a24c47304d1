// After each test: nothing stays connected.
import { afterEach } from "vitest";
import { dropClients } from "./clients/client.ts";
import { dropEmulatedClients } from "./clients/emulated.ts";
import { dropForeignClients } from "./clients/foreign-client.ts";
import { dropTtydClients } from "./clients/ttyd-client.ts";

afterEach(() => {
  dropClients();
  dropEmulatedClients();
  dropForeignClients();
  dropTtydClients();
});
