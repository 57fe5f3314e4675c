/** The number of changes of its types that a subscription remembers. For an older time, a replay sends only what was made then. */
const MAX_REMEMBERED = 100;

/** The types that a subscription had for some time. Moments are as in JSON. */
export interface FormerTypes {
  types: string[];
  since: string;
  until: string;
}

/** A subscription's current types and its former ones. */
interface Typed {
  createdAt: Date;
  types: readonly string[];
  formerTypes: readonly FormerTypes[];
}

/** A period in which a subscription had a type. `until` is null for a type that it has now. */
export interface TypePeriod {
  type: string;
  since: Date;
  until: Date | null;
}

/** The former types of a subscription whose types are replaced by `next` at a moment. */
export function formerTypesOf(present: Typed, next: readonly string[], now: Date): readonly FormerTypes[] {
  if (present.types.length === next.length && next.every((type) => present.types.includes(type)))
    return present.formerTypes;
  const last = { types: [...present.types], since: lastChange(present).toISOString(), until: now.toISOString() };
  return [...present.formerTypes, last].slice(-MAX_REMEMBERED);
}

/** When a subscription had which type. */
export function typePeriods(subscription: Typed): TypePeriod[] {
  const { types, formerTypes } = subscription;
  const former = formerTypes.flatMap((one) =>
    one.types.map((type) => ({ type, since: new Date(one.since), until: new Date(one.until) })),
  );
  const since = lastChange(subscription);
  return [...former, ...types.map((type) => ({ type, since, until: null }))];
}

function lastChange({ formerTypes, createdAt }: Pick<Typed, 'formerTypes' | 'createdAt'>): Date {
  const last = formerTypes.at(-1);
  return last ? new Date(last.until) : createdAt;
}
