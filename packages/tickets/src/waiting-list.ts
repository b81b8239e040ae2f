// Who waits for an address of which Loadbalancer, oldest first. O(log n) to find a place in the list.

export interface Waiting {
  name: string;
  /** Milliseconds since the epoch. */
  created: number;
}

export interface WaitingList {
  join(list: string, one: Waiting): void;
  /** Gives the list that it left, if it waited. */
  leave(name: string): string | undefined;
  first(list: string): string | undefined;
  /** Does somebody wait there who came before `one`? */
  isBehind(list: string, one: Waiting): boolean;
}

export function waitingList(): WaitingList {
  const lists = new Map<string, Waiting[]>();
  const places = new Map<string, { list: string; one: Waiting }>();

  const leave = (name: string) => {
    const place = places.get(name);
    if (!place) return undefined;
    places.delete(name);
    const list = lists.get(place.list) ?? [];
    list.splice(placeOf(list, place.one), 1);
    if (list.length === 0) lists.delete(place.list);
    return place.list;
  };
  return {
    join(name, one) {
      const present = places.get(one.name);
      if (present && present.list === name && compare(present.one, one) === 0) return;
      leave(one.name);
      const list = lists.get(name) ?? [];
      lists.set(name, list);
      list.splice(placeOf(list, one), 0, one);
      places.set(one.name, { list: name, one });
    },
    leave,
    first: (name) => lists.get(name)?.[0]?.name,
    isBehind(name, one) {
      const first = lists.get(name)?.[0];
      return first !== undefined && compare(first, one) < 0;
    },
  };
}

const compare = (a: Waiting, b: Waiting): number =>
  a.created - b.created || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Where `one` is, or where it belongs. */
function placeOf(list: readonly Waiting[], one: Waiting): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = list[middle];
    if (other && compare(other, one) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
