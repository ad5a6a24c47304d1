// The library's types are written by hand, so that it carries no schemas: here the compiler holds them to the server's.
import { expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type * as library from "../../sandbox-stdio/src/http/program-types.ts";
import type * as process from "../src/process-schemas.ts";
import { ROUTES } from "../src/routes.ts";
import type * as session from "../src/session-schemas.ts";

/** Without the difference between a field that is absent and one that is undefined. */
type Loose<T> = T extends readonly (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? {
        [K in keyof T]: Loose<Exclude<T[K], undefined>> | (Record<never, never> extends Pick<T, K> ? undefined : never);
      }
    : T;
/** Queries come as text: what the schemas take from a URL is any value. */
type Query<T extends z.ZodType> = { [K in keyof z.output<T>]?: z.output<T>[K] };

test("the library's requests have exactly the fields of the server's schemas", () => {
  expectTypeOf<Loose<library.CreateRequest>>().toEqualTypeOf<Loose<z.input<typeof process.createRequest>>>();
  expectTypeOf<Loose<library.RunRequest>>().toEqualTypeOf<Loose<z.input<typeof process.runRequest>>>();
  expectTypeOf<Loose<library.WriteRequest>>().toEqualTypeOf<Loose<z.input<typeof session.writeRequest>>>();
  expectTypeOf<Loose<library.WaitRequest>>().toEqualTypeOf<Loose<z.input<typeof session.waitRequest>>>();
  expectTypeOf<Loose<library.SignalRequest>>().toEqualTypeOf<Loose<z.input<typeof session.signalRequest>>>();
  expectTypeOf<Loose<library.ResizeRequest>>().toEqualTypeOf<Loose<z.input<typeof session.resizeRequest>>>();
  expectTypeOf<Loose<library.KeyboardRequest>>().toEqualTypeOf<Loose<z.input<typeof session.keyboardRequest>>>();
  expectTypeOf<Loose<library.ListQuery>>().toEqualTypeOf<Loose<Query<typeof session.listQuery>>>();
  expectTypeOf<Loose<library.ReadQuery>>().toEqualTypeOf<Loose<Query<typeof session.readQuery>>>();
  expectTypeOf<Loose<library.ScreenQuery>>().toEqualTypeOf<Loose<Query<typeof session.screenQuery>>>();
  expect(ROUTES.map((route) => route.operation)).toEqual([
    ...["list", "describe", "create", "createFresh", "run", "read", "write", "wait", "screen", "commands"],
    ...["signal", "resize", "keyboard", "end"],
  ]);
});

test("the library's answers have exactly the fields of the server's schemas", () => {
  type List = z.output<(typeof ROUTES)[0]["answer"]>;
  expectTypeOf<Loose<library.ListAnswer>>().toEqualTypeOf<Loose<List>>();
  expectTypeOf<Loose<library.Description>>().toEqualTypeOf<Loose<z.output<typeof process.description>>>();
  expectTypeOf<Loose<library.RunAnswer>>().toEqualTypeOf<Loose<z.output<typeof process.runAnswer>>>();
  expectTypeOf<Loose<library.ReadAnswer>>().toEqualTypeOf<Loose<z.output<typeof session.readAnswer>>>();
  expectTypeOf<Loose<library.WriteAnswer>>().toEqualTypeOf<Loose<z.output<typeof session.writeAnswer>>>();
  expectTypeOf<Loose<library.WaitAnswer>>().toEqualTypeOf<Loose<z.output<typeof session.waitAnswer>>>();
  expectTypeOf<Loose<library.ScreenAnswer>>().toEqualTypeOf<Loose<z.output<typeof session.screenAnswer>>>();
  expectTypeOf<Loose<library.CommandsAnswer>>().toEqualTypeOf<Loose<z.output<typeof session.commandsAnswer>>>();
  expectTypeOf<Loose<library.KeyboardAnswer>>().toEqualTypeOf<Loose<z.output<typeof session.keyboardAnswer>>>();
});
