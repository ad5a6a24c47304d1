// Parts of the page that are loaded when they are first needed, or before that while the page is idle.

import { createElement, type FunctionComponent, useEffect, useEffectEvent, useState } from "react";

type Closable = { readonly onClose: () => void };

/** @returns The component, and `preload`. A part that cannot be loaded is closed. */
export function lazily<Props extends Closable>(load: () => Promise<FunctionComponent<Props>>) {
  let loaded: FunctionComponent<Props> | undefined;
  const preload = async () => {
    loaded ??= await load();
    return loaded;
  };
  function Lazy(props: Props) {
    const [part, setPart] = useState(() => loaded);
    const close = useEffectEvent(() => props.onClose());
    useEffect(() => {
      preload().then((now) => setPart(() => now), close);
    }, []);
    return part === undefined ? null : createElement(part, props);
  }
  return Object.assign(Lazy, { preload });
}
