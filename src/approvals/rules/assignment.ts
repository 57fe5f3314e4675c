/** A slot for one person, given by the index of its level and of its group. */
export interface Slot {
  level: number;
  group: number;
}

/**
 * Determines which approval fills which slot of one combination. Approvals are placed in the order they were given, each in the first free
 * slot that fits it. Only if none is free do earlier ones move, as few as possible. So if not all approvals can count, the earliest are
 * kept, and a new one changes the levels of others only if it must.
 * @param slots in the order of levels
 * @param approvals people in the order they approved, each once
 * @param fits whether a person is in a group
 * @returns for each slot the index into `approvals`, or -1; as many slots are filled as possible
 */
export function assign(
  slots: readonly Slot[],
  approvals: number,
  fits: (approval: number, group: number) => boolean,
): number[] {
  const filledBy = slots.map(() => -1);
  for (let approval = 0; approval < approvals; approval += 1) {
    // Breadth first over slots: the shortest chain of moves that ends in a free one.
    const from = new Map<number, number>();
    const queue: number[] = [];
    const reach = (who: number, slot: number) => {
      slots.forEach(({ group }, index) => {
        if (from.has(index) || !fits(who, group)) return;
        from.set(index, slot);
        queue.push(index);
      });
    };
    reach(approval, -1);
    for (let next = 0; next < queue.length; next += 1) {
      const free = queue[next]!;
      if (filledBy[free] !== -1) {
        reach(filledBy[free]!, free);
        continue;
      }
      let slot = free;
      for (let before = from.get(slot)!; before !== -1; before = from.get(slot)!) {
        filledBy[slot] = filledBy[before]!;
        slot = before;
      }
      filledBy[slot] = approval;
      break;
    }
  }
  return filledBy;
}
