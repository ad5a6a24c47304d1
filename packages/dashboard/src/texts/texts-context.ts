// The texts for whatever is drawn below one component: English, unless its owner gave others.

import { createContext, useContext } from "react";
import { ENGLISH } from "./texts.ts";

export const TextsContext = createContext(ENGLISH);

export const useTexts = () => useContext(TextsContext);
