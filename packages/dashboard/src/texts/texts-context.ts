// The texts of a component and its children: English, unless the owner replaces some.

import { createContext, useContext } from "react";
import { ENGLISH } from "./texts.ts";

export const TextsContext = createContext(ENGLISH);

export const useTexts = () => useContext(TextsContext);
