// The ports of web servers that a program has started, to open them after their offer was closed.

import { Globe } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useTexts } from "../texts/texts-context.ts";
import type { ServerOffer } from "./server-offer.ts";

type PortsProps = { readonly offer: ServerOffer; readonly onOpen: (port: number) => void };

export function Ports({ offer, onOpen }: PortsProps) {
  const words = useTexts().server;
  const { known } = useSyncExternalStore(offer.subscribe, offer.getState);
  return known.map(({ port }) => (
    <button
      type="button"
      className="sbx-quiet sbx-reader"
      key={port}
      title={words.openPort(port)}
      aria-label={words.openPort(port)}
      onClick={() => onOpen(port)}
    >
      <Globe size={14} aria-hidden />
      {port}
    </button>
  ));
}
