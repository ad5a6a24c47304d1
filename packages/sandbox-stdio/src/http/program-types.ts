// Types of the programs' interface, derived from the fields in shapes.ts.

import type { Asked, Given, ValueOf } from "../wire/fields.ts";
import type * as shapes from "./shapes.ts";

export type ExitInfo = ValueOf<typeof shapes.exit>;
export type GapInfo = ValueOf<typeof shapes.gap>;
export type State = ValueOf<typeof shapes.state>;
export type Until = ValueOf<typeof shapes.until>;
export type Command = ValueOf<typeof shapes.command>;

export type ProcessFields = Asked<typeof shapes.process>;
export type CreateRequest = ProcessFields;
export type RunRequest = Asked<typeof shapes.run>;
export type ListQuery = Asked<typeof shapes.listing>;
export type ReadQuery = Asked<typeof shapes.read>;
export type WriteRequest = Asked<typeof shapes.write>;
export type WaitRequest = Asked<typeof shapes.wait>;
export type ScreenQuery = Asked<typeof shapes.screen>;
export type SignalRequest = Asked<typeof shapes.signal>;
export type ResizeRequest = Asked<typeof shapes.resize>;
export type KeyboardRequest = Asked<typeof shapes.keyboard>;

export type RunAnswer = Given<typeof shapes.runAnswer>;
export type Description = Given<typeof shapes.description>;
export type ListAnswer = Given<typeof shapes.listAnswer>;
export type ReadAnswer = Given<typeof shapes.readAnswer>;
export type WriteAnswer = Given<typeof shapes.writeAnswer>;
export type WaitAnswer = Given<typeof shapes.waitAnswer>;
export type ScreenAnswer = Given<typeof shapes.screenAnswer> & { [more: string]: unknown };
export type CommandsAnswer = Given<typeof shapes.commandsAnswer>;
export type KeyboardAnswer = Given<typeof shapes.keyboardAnswer>;
