// Where a client goes on: an event's id is `STREAM.OFFSET`.

export type EventPlace = { readonly stream: number; readonly offset: number };

export function placeOf(id: string): EventPlace | undefined {
  const [, stream, offset] = /^(\d{1,15})\.(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream: Number(stream), offset: Number(offset) };
}
