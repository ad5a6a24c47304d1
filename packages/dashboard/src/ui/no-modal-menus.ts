// What stands in the page for two libraries that the menus' library imports for modal menus alone: ours never are (Menu.tsx).

import { Fragment } from "react";

/** For "react-remove-scroll". */
export const RemoveScroll = Fragment;

/** For "aria-hidden". */
export function hideOthers(): () => void {
  return () => undefined;
}
