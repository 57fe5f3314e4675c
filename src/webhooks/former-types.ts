/** Changes of its types that a subscription remembers. Of what is older a replay sends what was made at its time. */
const MAX_REMEMBERED = 100;

/** The types that a subscription had for some time; moments as JSON has them. */
export interface FormerTypes {
  types: string[];
  since: string;
  until: string;
}

/** What a history of types is made of. */
interface Typed {
  createdAt: Date;
  types: readonly string[];
  formerTypes: readonly FormerTypes[];
}

/** A time in which a subscription had a type; `until` is null of those that it has now. */
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
